// What kinds of events a source brought, so that what is not there is said and not taken for good.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "run_folder/event_file.h"
#include "teller/result.h"

namespace teller {

struct SourceLayers {
  std::uint64_t kernels = 0;
  std::uint64_t copies = 0;       // on devices: copies and fills
  std::uint64_t calls = 0;        // of the runtime and the driver
  std::uint64_t operators = 0;    // of the framework
  std::uint64_t python = 0;       // functions
  std::uint64_t ranges = 0;       // annotations, spans, OS calls and others
  std::uint64_t links = 0;        // flows
  std::uint64_t collectives = 0;  // entries of a flight recorder
  std::uint64_t other = 0;        // marks, counters, synchronisation, unknown …
  // Around which half of its events begin, on its own clock; nothing without events.
  std::optional<std::int64_t> middle_ns;

  void add(const SourceLayers& more);
  nlohmann::ordered_json to_json() const;
  // "3 kernels, 2 CUDA calls, …", without those of which there are none.
  std::string words() const;
  // What is missing and what can't be told without it, one line each.
  std::vector<std::string> gaps(std::uint64_t requests) const;
};

// Counts events while they are written: a few instructions for each.
class LayerCounter {
 public:
  void add(const EventRecord& event) {
    const std::size_t kind = event.kind < kKinds ? event.kind : 0;
    ++counts_[kind][sort_of(event)];
    if (--until_sample_ == 0) sample(event.begin_ns);
  }
  // What was counted. With `collectives` operators and ranges are those of a flight recorder.
  SourceLayers layers(bool collectives = false) const;

 private:
  static constexpr std::size_t kKinds = 32;
  static constexpr std::size_t kSamples = 4096;  // at most, spread evenly over the events

  static std::size_t sort_of(const EventRecord& event) {
    return ((event.flags & kFlagOperator) != 0 ? 1U : 0U) +
           ((event.flags & kFlagPython) != 0 ? 2U : 0U);
  }
  void sample(std::int64_t begin_ns);

  std::uint64_t counts_[kKinds][4] = {};
  std::uint64_t stride_ = 1;  // of so many events the time of one is kept
  std::uint64_t until_sample_ = 1;
  std::vector<std::int64_t> samples_;
};

}  // namespace teller
