// What a thread did between the samples.
#pragma once

#include <cstdint>
#include <string_view>

#include "snapshot/facts.h"

namespace teller::snapshot_detail {

enum class BehaviourKind {
  kStuck,     // same place, no processor time, never woken
  kPolling,   // same place, hardly any processor time, but it woke up in between
  kSpinning,  // same functions, and the processor burnt all the time
  kRunning,   // uses the processor, or moves from place to place
  kDisk,      // in one uninterruptible sleep at every sample
  kStopped,   // by a signal, or by a debugger
  kUnknown,   // one sample only
};

struct Behaviour {
  BehaviourKind kind = BehaviourKind::kUnknown;
  double cpu_share = 0;        // of one processor, between the first and the last sample
  std::uint64_t switches = 0;  // times that it gave up the processor in between
};

Behaviour behaviour_of(const Thread& thread);
// "stuck", "polling", …
std::string_view behaviour_name(BehaviourKind kind);

}  // namespace teller::snapshot_detail
