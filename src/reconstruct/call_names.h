// What the name of a runtime or driver call says of its part in work on the device. Private to
// reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <string_view>

namespace teller {

enum CallFact : std::uint8_t {
  kCallLaunches = 1u << 0,       // puts a kernel or a graph on a stream
  kCallWaits = 1u << 1,          // returns when some work on the device has ended
  kCallWaitsForAll = 1u << 2,    // ... all that the process launched before
  kCallBeginsCapture = 1u << 3,  // what the thread launches from here on becomes a graph
  kCallEndsCapture = 1u << 4,
  kCallWaitsForStream = 1u << 5,  // returns when all that was launched on one stream has ended
};

// CallFacts of a call of CUDA or HIP; 0 for any other name.
std::uint8_t call_facts(std::string_view name);

}  // namespace teller
