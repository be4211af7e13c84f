// Notices engine steps that take much longer than the process's steps usually do, while they run
// and when they end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "capture/teller_names.h"

namespace teller::capture {

// Steps are the outermost ranges of category STEP on a thread (docs/hooks.md). Not thread-safe.
class StepWatch {
 public:
  // `factor`: a step is slow from this multiple of the median of the last 256 steps on; 0 = never.
  explicit StepWatch(double factor) : factor_(factor) {}

  void on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                     std::string_view text) {
    names_.add(kind, domain, id, text);
  }
  // `now_ns`: when the record was drained, CLOCK_MONOTONIC.
  void on_record(std::uint32_t ring, const ring::RecordHeader& header, std::string_view payload,
                 std::int64_t now_ns);
  // What was found since the last call, for people ("step took 812 ms, 9.3 times the median of
  // 87 ms"); "" if nothing. A step that has not ended is told once.
  std::string take(std::int64_t now_ns);

  // Steps needed before any is called slow.
  static constexpr std::size_t kMinSteps = 32;
  // A step that has not ended is not called slow before this time, however short the others are.
  static constexpr std::int64_t kMinOpenNs = 1000000000;

 private:
  struct Open {
    std::int64_t begin_ns = 0;    // the process's clock
    std::int64_t drained_ns = 0;  // ours
    bool step = false;
    bool told = false;
  };
  void begin(std::vector<Open>& stack, bool step, std::int64_t begin_ns, std::int64_t now_ns);
  void end(std::vector<Open>& stack, std::int64_t end_ns);
  // Nanoseconds; 0 while there are too few steps.
  double median() const;

  double factor_;
  TellerNames names_;
  std::map<std::uint32_t, std::vector<Open>> open_;  // by ring
  std::deque<double> durations_;
  std::string found_;
};

}  // namespace teller::capture
