// The state of a simulated engine. It has value semantics: a twin of a step starts from a copy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teller::simulate {

enum class Stage : std::uint8_t { kPlanned, kWaiting, kRunning, kDone };

struct Request {
  int prompt = 0, max_tokens = 0;  // tokens
  int output = 0;                  // tokens made so far
  int computed = 0;                // tokens whose KV is there
  int prefill_target = 0;          // below it, tokens that are known are read (again)
  int blocks = 0, preemptions = 0;
  int arrival = -1;          // order of arrival
  std::int64_t due_ns = -1;  // when its client sends it; -1: not known yet
  std::int64_t arrived_ns = 0, done_ns = 0;
  Stage stage = Stage::kPlanned;
  // What a fault took: the computed tokens and prefill target before a preemption that the twin
  // did not have; -1 once they are there again.
  int lost_computed = -1, lost_target = 0;

  int length() const { return prompt + output; }
  int remaining() const { return length() - computed; }
  bool is_prefill() const { return computed < prefill_target; }
};

// KV blocks. `pinned` and `leaked` are held by a fault.
struct Pool {
  int total = 256, free = 256, block_tokens = 16;
  int pinned = 0, leaked = 0;
  int blocks_for(int tokens) const { return (tokens + block_tokens - 1) / block_tokens; }
};

struct EngineState {
  std::int64_t now_ns = 0;
  int step = 0;  // number of the last step
  int arrivals = 0, next_planned = 0;
  std::vector<Request> requests;
  std::vector<int> waiting, running;  // indices of requests, in the queue's order
  Pool pool;
  int debt_paid = 0;                  // turns that credit_starvation has taken so far
  int held = 0;                       // steps for which kv_pinned has kept its victim out
  bool is_hung = false;               // nothing comes after this step
  std::vector<std::int64_t> rank_ns;  // host clock position of each rank, where there are several

  bool has_work() const { return !waiting.empty() || !running.empty(); }
};

// Limits of a step and of the load.
struct EngineConfig {
  int requests = 16, clients = 8;
  int min_prompt = 160, max_prompt = 288, min_output = 84, max_output = 108;
  int max_seqs = 8, token_budget = 160, max_chunk = 64;
  int blocks = 256;
  double max_pause_s = 0.25;  // a client thinks up to this long before each request
  double requests_per_s = 0;  // above 0: Poisson arrivals in place of closed clients
  int ranks = 1;
  int steps = 0;  // training: how many
};

// `req-<index>`.
inline std::string request_id(int index) {
  return "req-" + std::to_string(index);
}

}  // namespace teller::simulate
