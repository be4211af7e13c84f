#include "simulate/scheduler.h"

#include <algorithm>
#include <cmath>

namespace teller::simulate {

namespace {

constexpr int kChargedAfter = 6;  // tokens that credit_starvation lets its victim make first

class Scheduling {
 public:
  Scheduling(EngineState& state, const EngineConfig& config, const Fault& fault, const Key& draws)
      : s_(state), config_(config), fault_(fault), draws_(draws), budget_(config.token_budget) {}

  Plan make() {
    s_.pool.free += s_.pool.pinned;
    s_.pool.pinned = 0;
    for (const int request : order()) serve(request);
    for (const std::vector<int>* queue : {&s_.waiting, &s_.running}) {
      for (const int request : *queue) note_waiting(request);
    }
    plan_.tokens = config_.token_budget - budget_;
    plan_.free_blocks = s_.pool.free;
    plan_.seats = static_cast<int>(s_.running.size());
    return std::move(plan_);
  }

 private:
  bool on(Mechanism mechanism) const { return fault_.is_on(mechanism, s_.step); }
  bool hits(Mechanism mechanism, int request) const {
    return request == fault_.request && on(mechanism);
  }

  // Lowest rank first: served first, and preempted last.
  std::pair<int, int> rank(int request) const {
    const Request& one = s_.requests[static_cast<std::size_t>(request)];
    const int arrival = one.arrival;
    // The others have their blocks first, so that it is the victim that finds none.
    if (hits(Mechanism::kKvPinned, request) && one.output > 0) return {1, arrival};
    if (newest_first_) return {0, -arrival};
    return {0, arrival};
  }

  // Whether not all can be served, so that the order matters.
  bool is_short(const std::vector<int>& all) const {
    int tokens = 0;
    for (const int request : all) {
      const Request& one = s_.requests[static_cast<std::size_t>(request)];
      tokens += std::min(one.remaining(), config_.max_chunk);
    }
    return tokens > config_.token_budget || static_cast<int>(all.size()) > config_.max_seqs;
  }

  std::vector<int> order() {
    std::vector<int> all = s_.running;
    all.insert(all.end(), s_.waiting.begin(), s_.waiting.end());
    newest_first_ = on(Mechanism::kLifoAdmission) && is_short(all) &&
                    draws_.with("newest first").chance(fault_.magnitude);
    std::stable_sort(all.begin(), all.end(), [this](int a, int b) { return rank(a) < rank(b); });
    return all;
  }

  bool is_running(int request) const {
    return std::find(s_.running.begin(), s_.running.end(), request) != s_.running.end();
  }
  bool was_preempted(int request) const {
    return std::any_of(plan_.preempted.begin(), plan_.preempted.end(),
                       [request](const Row& row) { return row.request == request; });
  }

  void serve(int request) {
    Request& one = s_.requests[static_cast<std::size_t>(request)];
    const bool seated = is_running(request);
    if (!seated && static_cast<int>(s_.running.size()) >= config_.max_seqs) return;
    if (was_preempted(request)) return;
    const int count = std::min({one.remaining(), budget_, config_.max_chunk});
    if (count <= 0 || !may_run(request)) return;
    pin_before(request);
    if (!make_room(request, one.computed + count)) return;
    if (!seated) {
      std::erase(s_.waiting, request);
      s_.running.push_back(request);
      one.stage = Stage::kRunning;
    }
    plan_.served.push_back({request, one.is_prefill() ? RowKind::kPrefill : RowKind::kDecode, count,
                            one.computed, one.computed == 0, 0, 0});
    budget_ -= count;
  }

  // Charges the victim for turns that it never had, while others could have them.
  bool may_run(int request) {
    if (!hits(Mechanism::kCreditStarvation, request)) return true;
    const int debt = static_cast<int>(std::lround(fault_.magnitude * 54));
    const Request& one = s_.requests[static_cast<std::size_t>(request)];
    if (one.output < kChargedAfter || s_.debt_paid >= debt) return true;
    if (s_.running.size() < 2 || s_.pool.free == 0) return true;
    ++s_.debt_paid;
    return false;
  }

  // Takes the free blocks when the victim is due, and keeps it out for some steps then.
  void pin_before(int request) {
    if (!hits(Mechanism::kKvPinned, request)) return;
    const Request& one = s_.requests[static_cast<std::size_t>(request)];
    const double m = fault_.magnitude;
    bool wants = false;
    if (one.computed > 0) {
      s_.held = 0;
      const int after = static_cast<int>(std::lround(50 - 47 * std::sqrt(m)));
      wants = one.computed >= one.prefill_target + after;
    } else {
      ++s_.held;
      wants = one.preemptions > 0 && s_.held <= static_cast<int>(std::lround(1 + 3 * m));
    }
    if (!wants) return;
    s_.pool.pinned += s_.pool.free;
    s_.pool.free = 0;
  }

  bool grow(Request& one, int tokens) {
    const int missing = s_.pool.blocks_for(tokens) - one.blocks;
    if (missing > s_.pool.free) return false;
    if (missing > 0) {
      s_.pool.free -= missing;
      one.blocks += missing;
    }
    return true;
  }

  bool make_room(int request, int tokens) {
    Request& one = s_.requests[static_cast<std::size_t>(request)];
    while (!grow(one, tokens)) {
      if (!is_running(request)) return false;
      const int victim = *std::max_element(s_.running.begin(), s_.running.end(),
                                           [this](int a, int b) { return rank(a) < rank(b); });
      const bool is_served =
          std::any_of(plan_.served.begin(), plan_.served.end(),
                      [victim](const Row& row) { return row.request == victim; });
      preempt(is_served ? request : victim);
      if (is_served || victim == request) return false;
    }
    return true;
  }

  void preempt(int victim) {
    Request& one = s_.requests[static_cast<std::size_t>(victim)];
    plan_.preempted.push_back({victim, RowKind::kPreempted, 0, one.computed, false, one.blocks,
                               s_.pool.free, one.prefill_target});
    std::erase(s_.running, victim);
    s_.waiting.push_back(victim);
    one.stage = Stage::kWaiting;
    s_.pool.free += one.blocks;
    one.blocks = 0;
    one.computed = 0;
    one.prefill_target = one.length();
    ++one.preemptions;
  }

  void note_waiting(int request) {
    const bool served = std::any_of(plan_.served.begin(), plan_.served.end(),
                                    [request](const Row& row) { return row.request == request; });
    if (served) return;
    const Request& one = s_.requests[static_cast<std::size_t>(request)];
    plan_.waiting.push_back({request, RowKind::kWaiting, 0, one.computed, false, 0, 0});
  }

  EngineState& s_;
  const EngineConfig& config_;
  const Fault& fault_;
  const Key& draws_;
  int budget_;
  bool newest_first_ = false;
  Plan plan_;
};

}  // namespace

int Plan::prefills() const {
  return static_cast<int>(std::count_if(
      served.begin(), served.end(), [](const Row& row) { return row.kind == RowKind::kPrefill; }));
}

Plan schedule(EngineState& state, const EngineConfig& config, const Fault& fault,
              const Key& draws) {
  return Scheduling(state, config, fault, draws).make();
}

std::vector<int> finish_step(EngineState& state, const EngineConfig& config, const Plan& plan,
                             const Fault& fault) {
  std::vector<int> finished;
  for (const Row& row : plan.served) {
    Request& one = state.requests[static_cast<std::size_t>(row.request)];
    one.computed += row.scheduled;
    if (one.remaining() == 0) ++one.output;
    if (one.lost_computed >= 0 && one.computed >= one.lost_computed) one.lost_computed = -1;
    if (one.output < one.max_tokens) continue;
    finished.push_back(row.request);
    one.stage = Stage::kDone;
    std::erase(state.running, row.request);
    int kept = 0;
    if (fault.is_on(Mechanism::kKvLeak, state.step)) {
      kept = static_cast<int>(std::lround(one.blocks * std::min(1.0, 1.5 * fault.magnitude)));
      // Never so many that the largest request could not run at all.
      const int least = state.pool.blocks_for(config.max_prompt + config.max_output) + 2;
      kept = std::clamp(state.pool.total - state.pool.leaked - least, 0, kept);
    }
    state.pool.leaked += kept;
    state.pool.free += one.blocks - kept;
    one.blocks = 0;
  }
  return finished;
}

EngineState healed(const EngineState& state) {
  EngineState out = state;
  out.pool.free += out.pool.pinned + out.pool.leaked;
  out.pool.pinned = out.pool.leaked = 0;
  for (std::size_t i = 0; i < out.requests.size(); ++i) {
    Request& one = out.requests[i];
    if (one.lost_computed < 0 || one.stage == Stage::kDone) continue;
    const int blocks = out.pool.blocks_for(one.lost_computed);
    out.pool.free = std::max(0, out.pool.free - (blocks - one.blocks));
    one.blocks = blocks;
    one.computed = one.lost_computed;
    one.prefill_target = one.lost_target;
    one.lost_computed = -1;
    if (one.stage == Stage::kRunning) continue;
    const int index = static_cast<int>(i);
    one.stage = Stage::kRunning;
    std::erase(out.waiting, index);
    out.running.push_back(index);
  }
  return out;
}

}  // namespace teller::simulate
