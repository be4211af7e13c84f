// Idle times of a device in a step, and the host's work that they fall into. Private to vertical/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run_folder/chains.h"

namespace teller::vertical_detail {

// What host work does that leaves the device idle, told by names that its frameworks give it.
enum class IdleCause : std::uint8_t { kDataLoading, kCheckpoint, kGarbageCollection, kOther };
inline constexpr std::size_t kIdleCauses = 4;
const char* cause_name(IdleCause cause);

// Idle time that one piece of host work accounts for, over all steps.
struct IdleShare {
  IdleCause cause = IdleCause::kOther;
  std::uint32_t family = 0;     // string of the chains
  std::uint32_t node = 0;       // the longest such piece
  std::int64_t idle_ns = 0;     // sum over all steps
  std::int64_t longest_ns = 0;  // idle time in that piece
  std::uint32_t steps = 0;      // in which it leaves devices idle for a tenth of their time
};

struct DeviceIdle {
  std::int64_t wall_ns = 0;  // of the steps that have ended, once for each device that one uses
  std::int64_t idle_ns = 0;  // in which no activity of that device runs
  std::uint32_t steps = 0;   // such steps
  std::vector<IdleShare> shares;  // most idle time first; ties by family
};

// An idle time that is shorter than a hundredth of its step is counted, and given to nobody. A
// longer one belongs to the innermost range on the thread of the step's root that covers four
// fifths of it.
DeviceIdle measure_device_idle(const Chains& chains);

}  // namespace teller::vertical_detail
