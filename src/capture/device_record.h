// What a device record of the ring is as an event.
#pragma once

#include <nlohmann/json.hpp>

#include "teller/event.h"
#include "teller/ring.h"

namespace teller::capture {

EventKind kind_of(ring::DeviceKind kind);
// The event's category; "" where its kind says enough.
const char* category_of(ring::DeviceKind kind);
// Work of a device that a call launched, of which an activity means that it has begun.
bool runs_on_device(ring::DeviceKind kind);
// EventRecord::value.
std::int64_t value_of(const ring::DeviceRecord& activity);
// What has no field of its own; an empty object for most.
nlohmann::ordered_json attributes_of(const ring::DeviceRecord& activity);

}  // namespace teller::capture
