// The mechanisms that can be wrong in a simulated run.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "run_folder/labels.h"

namespace teller::simulate {

enum class Mechanism : std::uint8_t {
  kNone,
  kKvPinned,
  kKvLeak,
  kAllocatorRetry,
  kSlowAttention,
  kSlowGemm,
  kWrongKernel,
  kCreditStarvation,
  kLifoAdmission,
  kGcPause,
  kDataStall,
  kClockCap,
  kBlockingCall,
  kSlowLink,
  kFlakyLink,
  kMissingCollective,
};

// What is said of a mechanism.
struct MechanismInfo {
  Mechanism mechanism;
  std::string_view name;
  FaultType category;
  std::string_view resource;
  std::string_view stacks;  // separated by blanks
  std::string_view words;
};

// All mechanisms but "none", in a fixed order.
std::span<const MechanismInfo> all_mechanisms();
// The mechanism with this name; null if there is none.
const MechanismInfo* find_mechanism(std::string_view name);
bool has_stack(const MechanismInfo& mechanism, std::string_view stack);

// A fault of one run: what is on, how strong, when and whom it hits.
struct Fault {
  Mechanism mechanism = Mechanism::kNone;
  double magnitude = 0;  // 0: no effect, 1: obvious
  int from_step = 1;     // step numbers, both included
  int to_step = 0;
  int request = -1;  // victim or culprit, index
  int rank = -1;

  bool is_on(Mechanism one, int step) const {
    return mechanism == one && magnitude > 0 && step >= from_step && step <= to_step;
  }
};

}  // namespace teller::simulate
