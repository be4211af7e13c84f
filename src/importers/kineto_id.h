// The ids by which the ends of arrows and of asynchronous ranges find each other.
#pragma once

#include <cstdint>

#include "importers/kineto_event.h"

namespace teller {

struct KinetoId {
  enum class State : std::uint8_t {
    kNone,        // the event states none
    kGood,        // equal ids are equal numbers
    kUnreadable,  // it states one in a form that no trace format of this family knows
  };
  State state = State::kNone;
  std::uint64_t number = 0;
};

// Reads "id", or where that is not there "id2": {"local": …} (of its process) or {"global": …}. A
// "scope" tells ids apart that are otherwise the same.
KinetoId kineto_id(const KinetoEvent& event);

}  // namespace teller
