#include "snapshot/behaviour.h"

#include <algorithm>
#include <cmath>

namespace teller::snapshot_detail {

namespace {

constexpr double kIdleShare = 0.02;      // less is no work
constexpr double kSpinningShare = 0.75;  // of a processor that others want too

template <typename Equal>
bool all_equal(const Thread& thread, Equal equal) {
  return std::all_of(thread.samples.begin(), thread.samples.end(),
                     [&](const ThreadSample& s) { return equal(s, thread.samples.front()); });
}

bool same_place(const ThreadSample& a, const ThreadSample& b) {
  return a.stack == b.stack && a.wait_channel == b.wait_channel && a.syscall == b.syscall &&
         a.stack_pointer == b.stack_pointer;
}

// Lines within a function differ while it loops.
bool same_functions(const ThreadSample& a, const ThreadSample& b) {
  return std::equal(
      a.stack.begin(), a.stack.end(), b.stack.begin(), b.stack.end(),
      [](const Frame& x, const Frame& y) { return x.function == y.function && x.file == y.file; });
}

bool always(const Thread& thread, std::string_view states) {
  return std::all_of(thread.samples.begin(), thread.samples.end(), [&](const ThreadSample& s) {
    return states.find(s.state) != std::string_view::npos;
  });
}

}  // namespace

Behaviour behaviour_of(const Thread& thread) {
  Behaviour result;
  if (thread.samples.empty()) return result;
  const ThreadSample& first = thread.samples.front();
  const ThreadSample& last = thread.samples.back();
  if (last.state == 'T' || last.state == 't') result.kind = BehaviourKind::kStopped;
  const auto window = static_cast<double>(last.at_ns - first.at_ns);
  if (thread.samples.size() < 2 || window <= 0) return result;
  const double share = static_cast<double>(last.cpu_ns - first.cpu_ns) / window;
  result.cpu_share = std::round(share * 1000) / 1000;
  result.switches = last.switches - first.switches;
  if (result.kind == BehaviourKind::kStopped) return result;
  // One that reads on from a slow disk is woken in between.
  if (always(thread, "D") && result.switches == 0) {
    result.kind = BehaviourKind::kDisk;
  } else if (share >= kSpinningShare && !first.stack.empty() && all_equal(thread, same_functions)) {
    result.kind = BehaviourKind::kSpinning;
  } else if (share < kIdleShare && always(thread, "SDI") && all_equal(thread, same_place)) {
    result.kind = result.switches == 0 ? BehaviourKind::kStuck : BehaviourKind::kPolling;
  } else {
    result.kind = BehaviourKind::kRunning;
  }
  return result;
}

std::string_view behaviour_name(BehaviourKind kind) {
  switch (kind) {
    case BehaviourKind::kStuck:
      return "stuck";
    case BehaviourKind::kPolling:
      return "polling";
    case BehaviourKind::kSpinning:
      return "spinning";
    case BehaviourKind::kRunning:
      return "running";
    case BehaviourKind::kDisk:
      return "disk";
    case BehaviourKind::kStopped:
      return "stopped";
    case BehaviourKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace teller::snapshot_detail
