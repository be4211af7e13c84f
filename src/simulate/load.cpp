#include "simulate/load.h"

#include <algorithm>
#include <cmath>

namespace teller::simulate {

namespace {

// Half of a request's way through the server, before the engine knows it.
constexpr std::int64_t kTakeInNs = 200'000;

std::int64_t pause_ns(const EngineConfig& config, const Key& seed, int request) {
  const Key key = seed.with("pause").with(static_cast<std::uint64_t>(request));
  return static_cast<std::int64_t>(1e9 * key.between(0, config.max_pause_s));
}

void send_next(EngineState& state, const EngineConfig& config, const Key& seed,
               std::int64_t free_ns) {
  if (state.next_planned >= static_cast<int>(state.requests.size())) return;
  const int request = state.next_planned++;
  state.requests[static_cast<std::size_t>(request)].due_ns =
      free_ns + pause_ns(config, seed, request);
}

void take(EngineState& state, int index) {
  Request& one = state.requests[static_cast<std::size_t>(index)];
  one.stage = Stage::kWaiting;
  one.arrival = state.arrivals++;
  one.arrived_ns = one.due_ns;
  state.waiting.push_back(index);
}

}  // namespace

EngineState plan_load(const EngineConfig& config, const Key& seed, std::int64_t start_ns) {
  EngineState state;
  state.now_ns = start_ns;
  state.pool.total = state.pool.free = config.blocks;
  double clock_s = 0;
  for (int i = 0; i < config.requests; ++i) {
    const Key key = seed.with("request").with(static_cast<std::uint64_t>(i));
    Request one;
    one.prompt = static_cast<int>(key.with("prompt").integer(config.min_prompt, config.max_prompt));
    one.max_tokens =
        static_cast<int>(key.with("output").integer(config.min_output, config.max_output));
    one.prefill_target = one.prompt;
    if (config.requests_per_s > 0) {
      clock_s += -std::log(key.with("arrival").uniform()) / config.requests_per_s;
      one.due_ns = start_ns + static_cast<std::int64_t>(1e9 * clock_s);
    }
    state.requests.push_back(one);
  }
  if (config.requests_per_s > 0) {
    state.next_planned = config.requests;
  } else {
    for (int i = 0; i < config.clients; ++i) send_next(state, config, seed, start_ns);
  }
  return state;
}

bool take_arrivals(EngineState& state) {
  for (;;) {
    int next = -1;
    std::int64_t next_ns = 0;
    std::vector<std::pair<std::int64_t, int>> due;
    for (std::size_t i = 0; i < state.requests.size(); ++i) {
      const Request& one = state.requests[i];
      if (one.stage != Stage::kPlanned || one.due_ns < 0) continue;
      const int index = static_cast<int>(i);
      if (one.due_ns + kTakeInNs <= state.now_ns) due.emplace_back(one.due_ns, index);
      if (next < 0 || one.due_ns < next_ns) {
        next = index;
        next_ns = one.due_ns;
      }
    }
    std::sort(due.begin(), due.end());
    for (const auto& [_, index] : due) take(state, index);
    if (state.has_work()) return true;
    if (next < 0) return false;
    state.now_ns = std::max(state.now_ns, next_ns + kTakeInNs);
  }
}

void answer(EngineState& state, const EngineConfig& config, const Key& seed, int request) {
  state.requests[static_cast<std::size_t>(request)].done_ns = state.now_ns;
  if (config.requests_per_s <= 0) send_next(state, config, seed, state.now_ns);
}

}  // namespace teller::simulate
