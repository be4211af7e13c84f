// What kinds of events a source brought, so that what is not there is said and not taken for good.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

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
  // The span of its times on its own clock; nothing without events.
  std::optional<std::int64_t> begin_ns, end_ns;

  void add(const SourceLayers& more);
  nlohmann::ordered_json to_json() const;
  // "3 kernels, 2 CUDA calls, …", without those of which there are none.
  std::string words() const;
  // What is missing and what can't be told without it, one line each.
  std::vector<std::string> gaps(std::uint64_t requests) const;
};

// Counts the events of the file at `path`, of a source of `dialect`.
Result<SourceLayers> read_layers(const std::string& path, const std::string& dialect);

}  // namespace teller
