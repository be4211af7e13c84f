// What is measured of every operator instance: the features of docs/localise.md, taken from chains.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "run_folder/chains.h"
#include "slice/robust.h"

namespace teller::slice_detail {

// The kind of work that an instance belongs to: its request's row if it belongs to one request,
// else the step (a step with any prefill row is a prefill step).
enum class Phase : std::uint8_t { kUnknown = 0, kPrefill = 1, kDecode = 2 };
std::string_view phase_name(Phase phase);  // "unknown", "prefill", "decode"

// Operators that are expected to behave alike. `owned`: its instances belong to one request each.
struct OpKey {
  std::string family;
  Layer layer = Layer::kStep;
  Phase phase = Phase::kUnknown;
  bool owned = false;
  auto tie() const { return std::tie(family, layer, phase, owned); }
  bool operator<(const OpKey& other) const { return tie() < other.tie(); }
};

// Numbers the keys of a run and of its baselines alike.
class KeyTable {
 public:
  std::uint32_t id(const OpKey& key);
  const OpKey& key(std::uint32_t id) const { return *keys_[id]; }
  std::size_t size() const { return keys_.size(); }

 private:
  std::map<OpKey, std::uint32_t> ids_;
  std::vector<const OpKey*> keys_;  // into ids_, whose nodes never move
};

// One finished operator instance inside a step. Times are natural logarithms of nanoseconds.
struct Observation {
  std::uint32_t node = 0;
  std::uint32_t step = 0;
  std::uint32_t request = kNoIndex;
  std::uint32_t key = 0;
  float log_tokens = -1;   // log(1 + tokens), of the request's row or of the step; -1 unknown
  float log_context = -1;  // log(1 + computed tokens), likewise
  float log_duration = 0;
  float log_self = 0;  // without the host children's time
  bool first = false;  // belongs to the request that its step runs this operator for first

  Point duration() const { return {log_tokens, log_context, log_duration}; }
  Point self() const { return {log_tokens, log_context, log_self}; }
};

// All observations of a run, in node order. Rows, marks, open nodes and nodes outside any step are
// left out: rows are judged by schedule_signs.h, open nodes never enter a comparison of times.
std::vector<Observation> observe(const Chains& chains, KeyTable& keys);

}  // namespace teller::slice_detail
