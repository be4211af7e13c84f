// When what `--last` keeps is written out: who asked, or what was noticed, and what is asked too
// often.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teller::capture {

enum class TriggerKind {
  kCommand,   // teller trigger
  kSignal,    // SIGUSR2 to the recorder
  kLog,       // a line matched --trigger-log
  kSlowStep,  // a step took, or is taking, more than --trigger-slow-step times the usual
};

// "command", "signal", "log", "slow-step": as in names of folders and in manifests.
std::string_view name_of(TriggerKind kind);

struct Trigger {
  TriggerKind kind = TriggerKind::kCommand;
  std::string detail;            // for people
  std::int64_t time_ns = 0;      // when it fired, CLOCK_MONOTONIC
  std::int64_t due_ns = 0;       // when to write
  std::vector<int> connections;  // of those who wait for an answer
};

// Not thread-safe.
class Triggers {
 public:
  // A trigger that nobody asked for is left out if another came less than `quiet_ns` before it:
  // what it would write has been written. Each is due `after_ns` after it fired.
  Triggers(std::int64_t quiet_ns, std::int64_t after_ns)
      : quiet_ns_(quiet_ns), after_ns_(after_ns) {}

  void fire(TriggerKind kind, std::string detail, std::int64_t now_ns, int connection = -1);
  // Takes the trigger that is due, if there is one. Those that fired meanwhile go with it.
  bool take_due(std::int64_t now_ns, Trigger* trigger);
  // Everything that is pending, at the end.
  std::vector<Trigger> take_all();
  // Triggers that were left out.
  std::uint64_t left_out() const { return left_out_; }

 private:
  std::int64_t quiet_ns_;
  std::int64_t after_ns_;
  std::vector<Trigger> pending_;
  bool fired_by_itself_ = false;
  std::int64_t last_by_itself_ns_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace teller::capture
