// What the categories of PyTorch's profiler mean, over all its dialects since 2021.
#pragma once

#include <optional>
#include <string_view>

#include "teller/event.h"

namespace teller {

// The meaning of a category for complete events.
struct KinetoCategory {
  EventKind kind = EventKind::kUnknown;
  std::uint16_t flags = 0;
  bool on_device = false;  // the event's track is a stream
};

// Nothing for a category that this version does not know.
std::optional<KinetoCategory> kineto_category(std::string_view category);

}  // namespace teller
