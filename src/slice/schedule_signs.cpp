#include "slice/schedule_signs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/saturate.h"
#include "run_folder/locator.h"
#include "slice/robust.h"

namespace teller::slice_detail {
namespace {

// The rows of each step that has any, in order.
struct StepRows {
  std::uint32_t begin = 0, end = 0;
};

std::vector<StepRows> rows_by_step(const Chains& chains) {
  std::vector<StepRows> list;
  const auto count = static_cast<std::uint32_t>(chains.row_count());
  for (std::uint32_t row = 0; row < count; ++row) {
    if (list.empty() || chains.rows.step[row] != chains.rows.step[list.back().begin]) {
      list.push_back({row, row});
    }
    list.back().end = row + 1;
  }
  return list;
}

RowPhase phase_of(const Chains& chains, std::uint32_t row) {
  return static_cast<RowPhase>(chains.rows.phase[row]);
}

// Tokens that a KV block holds. Held tokens over used blocks says too much where requests share a
// prefix, so blocks are counted while the same requests decode in two steps one after the other:
// new tokens are shared with nobody. 1, which is safe, where the record shows too little of that.
class BlockSize {
 public:
  explicit BlockSize(const Chains& chains) : chains_(chains) {
    for (const StepRows& rows : rows_by_step(chains)) add(rows);
  }

  bool known() const { return blocks_ >= kFewestBlocks; }
  double tokens() const {
    if (!known()) return 1;
    const double grown = static_cast<double>(tokens_) / static_cast<double>(blocks_ + batch_);
    return std::max(std::min(grown, median(ratios_)), 1.0);
  }

 private:
  static constexpr std::int64_t kFewestBlocks = 8;

  struct Decoding {
    std::int32_t free = -1;
    std::vector<std::uint32_t> requests;  // empty: others than decoding ones, too
  };

  void add(const StepRows& rows) {
    const std::uint32_t step = chains_.rows.step[rows.begin];
    Decoding now{chains_.steps.kv_free[step], {}};
    bool decodes = now.free >= 0;
    std::int64_t scheduled = 0, held = 0;
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
      const RowPhase phase = phase_of(chains_, row);
      decodes = decodes && phase != RowPhase::kPreempted && phase != RowPhase::kPrefill;
      if (phase == RowPhase::kPreempted) continue;
      scheduled = saturating_add(scheduled, chains_.rows.scheduled[row]);
      held = saturating_add(
          held, saturating_add(chains_.rows.computed[row], chains_.rows.scheduled[row]));
      if (phase == RowPhase::kDecode) now.requests.push_back(chains_.rows.request[row]);
    }
    const std::int64_t used = std::int64_t{chains_.steps.kv_total[step]} - now.free;
    if (now.free >= 0 && used > 0 && held > 0) {
      ratios_.push_back(static_cast<double>(held) / static_cast<double>(used));
    }
    if (!decodes) now.requests.clear();
    std::sort(now.requests.begin(), now.requests.end());
    Decoding& before = before_[chains_.steps.engine[step]];
    if (!now.requests.empty() && now.requests == before.requests && now.free <= before.free) {
      tokens_ = saturating_add(tokens_, scheduled);
      blocks_ += before.free - now.free;
      batch_ = std::max(batch_, static_cast<std::int64_t>(now.requests.size()));
    }
    before = std::move(now);
  }

  const Chains& chains_;
  std::map<std::uint32_t, Decoding> before_;  // by engine
  std::vector<double> ratios_;
  std::int64_t tokens_ = 0, blocks_ = 0;
  std::int64_t batch_ = 0;  // requests whose last blocks may have been filled all along
};

constexpr std::int64_t kNotKnown = -1;

// Tokens that each row's request is given the next time it is served; unknown where it never is
// again, or loses its blocks first.
std::vector<std::int64_t> next_scheduled(const Chains& chains) {
  std::vector<std::int64_t> next(chains.row_count(), kNotKnown);
  std::vector<std::int64_t> latest(chains.request_count(), kNotKnown);
  for (std::uint32_t row = static_cast<std::uint32_t>(chains.row_count()); row-- > 0;) {
    const std::uint32_t request = chains.rows.request[row];
    next[row] = latest[request];
    if (chains.rows.scheduled[row] > 0) latest[request] = chains.rows.scheduled[row];
    if (phase_of(chains, row) == RowPhase::kPreempted) latest[request] = kNotKnown;
  }
  return next;
}

enum class Room { kNone, kEnough, kUnknown };

// Whether step `step` had seat, budget and blocks left for a request that needs `tokens`.
Room room_for(const Chains& chains, std::uint32_t step, bool holds_seat, std::int64_t tokens,
              double block_tokens) {
  const bool knows_budget = chains.steps.token_limit[step] >= 0 && chains.steps.tokens[step] >= 0;
  const bool knows_blocks = chains.steps.kv_free[step] >= 0;
  const bool knows_seats = chains.steps.seq_limit[step] >= 0 && chains.steps.seqs[step] >= 0;
  const std::int64_t least = std::max<std::int64_t>(tokens, 1);
  if (knows_budget && chains.steps.token_limit[step] - chains.steps.tokens[step] < least) {
    return Room::kNone;
  }
  const double blocks = std::ceil(static_cast<double>(least) / block_tokens);
  if (knows_blocks && chains.steps.kv_free[step] < blocks) return Room::kNone;
  if (!holds_seat && knows_seats && chains.steps.seqs[step] >= chains.steps.seq_limit[step]) {
    return Room::kNone;
  }
  if (tokens == kNotKnown) return Room::kUnknown;
  return knows_budget || knows_blocks || holds_seat ? Room::kEnough : Room::kUnknown;
}

// When a request came: first sign, then first step that knew it.
using Arrival = std::pair<std::int64_t, std::uint32_t>;

std::vector<Arrival> arrivals(const Chains& chains) {
  std::vector<Arrival> list(chains.request_count(), Arrival{kNotKnown, kNoIndex});
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    Arrival& own = list[chains.rows.request[row]];
    if (own.second != kNoIndex) continue;
    const std::int64_t seen = chains.requests.first_seen_ns[chains.rows.request[row]];
    own = {seen >= 0 ? seen : chains.steps.begin_ns[chains.rows.step[row]], chains.rows.step[row]};
  }
  return list;
}

// Follows the requests from step to step and tells which waits are passed over: others were served
// that had no better right to it, and there was room.
class Overtaking {
 public:
  explicit Overtaking(const Chains& chains)
      : chains_(chains),
        arrivals_(arrivals(chains)),
        next_(next_scheduled(chains)),
        block_tokens_(BlockSize(chains).tokens()),
        states_(chains.request_count()) {}

  void read(std::vector<RequestSchedule>& schedule) {
    for (const StepRows& rows : rows_by_step(chains_)) {
      begin_step(rows);
      for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
        if (phase_of(chains_, row) == RowPhase::kWaiting) judge(row, schedule);
      }
      end_step(rows);
    }
  }

 private:
  struct State {
    bool seated = false;    // served, and not preempted since
    bool decoding = false;  // in its last step
    std::uint32_t admitted = kNoIndex, last_served = kNoIndex;
    std::uint32_t waits_since = kNoIndex;  // for a seat
  };
  struct Admitted {
    std::uint32_t step;
    Arrival latest;  // of those admitted in that step or later
  };

  // Collects what the step serves.
  void begin_step(const StepRows& rows) {
    const std::uint32_t step = chains_.rows.step[rows.begin];
    in_peace_ = true;
    served_.clear();
    last_served_ = kNoIndex;
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
      const std::uint32_t request = chains_.rows.request[row];
      State& state = states_[request];
      if (phase_of(chains_, row) == RowPhase::kPreempted) in_peace_ = false;
      if (chains_.rows.scheduled[row] > 0) {
        if (!state.seated) state.admitted = step;
        served_.push_back({state.admitted, arrivals_[request]});
        if (state.seated && (last_served_ == kNoIndex || state.last_served > last_served_)) {
          last_served_ = state.last_served;
        }
      } else if (!state.seated && state.waits_since == kNoIndex) {
        state.waits_since = step;
      }
    }
    std::sort(served_.begin(), served_.end(),
              [](const Admitted& a, const Admitted& b) { return a.step < b.step; });
    for (std::size_t i = served_.size(); i-- > 1;) {
      served_[i - 1].latest = std::max(served_[i - 1].latest, served_[i].latest);
    }
  }

  // A request with a seat is passed over for whoever came later, or has been served no longer ago.
  // One that waits for a seat is passed over only for those who came later and got theirs while it
  // waited: else it stands in a queue, and what came before it, or has a seat already, goes first.
  bool is_overtaken(std::uint32_t request) const {
    const State& state = states_[request];
    const Arrival& own = arrivals_[request];
    if (state.seated) {
      if (!served_.empty() && served_.front().latest > own) return true;
      return last_served_ != kNoIndex && last_served_ >= state.last_served;
    }
    const auto since =
        std::lower_bound(served_.begin(), served_.end(), state.waits_since,
                         [](const Admitted& one, std::uint32_t step) { return one.step < step; });
    return since != served_.end() && since->latest > own;
  }

  // The record may say what a request waits for: then nobody passes it over.
  bool waits_for_something(std::uint32_t row) const {
    const std::uint32_t node = chains_.rows.node[row];
    return chains_.nodes.name[node] != chains_.nodes.family[node];
  }

  std::int64_t need(std::uint32_t row) const {
    if (next_[row] != kNotKnown) return next_[row];
    const State& state = states_[chains_.rows.request[row]];
    return state.seated && state.decoding ? 1 : kNotKnown;
  }

  // Blocks that a preemption gives back count as free at the end of scheduling, but were not when
  // the waiting request had its turn: steps with preemptions tell nothing.
  void judge(std::uint32_t row, std::vector<RequestSchedule>& schedule) const {
    const std::uint32_t request = chains_.rows.request[row];
    if (!in_peace_ || waits_for_something(row) || !is_overtaken(request)) return;
    switch (room_for(chains_, chains_.rows.step[row], states_[request].seated, need(row),
                     block_tokens_)) {
      case Room::kNone:
        return;
      case Room::kEnough:
        return schedule[request].passed_over.push_back(row);
      case Room::kUnknown:
        ++schedule[request].unjudged_waits;
    }
  }

  void end_step(const StepRows& rows) {
    const std::uint32_t step = chains_.rows.step[rows.begin];
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
      State& state = states_[chains_.rows.request[row]];
      if (phase_of(chains_, row) == RowPhase::kPreempted) {
        state = State{};
        state.waits_since = step;
      } else if (chains_.rows.scheduled[row] > 0) {
        state.seated = true;
        state.decoding = phase_of(chains_, row) == RowPhase::kDecode;
        state.last_served = step;
        state.waits_since = kNoIndex;
      }
    }
  }

  const Chains& chains_;
  const std::vector<Arrival> arrivals_;
  const std::vector<std::int64_t> next_;
  const double block_tokens_;
  std::vector<State> states_;  // by request, before the step
  // Of the step at hand:
  bool in_peace_ = true;
  std::vector<Admitted> served_;          // by the step in which they got their seat
  std::uint32_t last_served_ = kNoIndex;  // the latest of those that had been served before
};

using RowList = std::vector<std::uint32_t> RequestSchedule::*;

// Counts of one kind of row over the other requests of the run.
struct Others {
  std::size_t largest = 0;
  std::size_t usual = 0;  // what one of them may well have
};

// Where the thing happens to a third of the others or more, it is the run's matter, and the worst
// of them is still usual; else a few of them may be hit by the same defect, and do not count.
Others count_others(const std::vector<RequestSchedule>& schedule, std::uint32_t request,
                    RowList rows) {
  std::vector<double> counts;
  for (std::uint32_t other = 0; other < schedule.size(); ++other) {
    if (other == request || schedule[other].served == 0) continue;
    counts.push_back(static_cast<double>((schedule[other].*rows).size()));
  }
  Others result;
  if (counts.empty()) return result;
  const auto hit = std::count_if(counts.begin(), counts.end(), [](double n) { return n > 0; });
  result.largest = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  result.usual = 3 * static_cast<std::size_t>(hit) >= counts.size()
                     ? result.largest
                     : static_cast<std::size_t>(quantile(counts, 0.75));
  return result;
}

// The count from which on a request stands out: twice what healthy runs do to one at most, or twice
// what this run does to the others, and at least `least`.
double threshold(std::size_t healthy, const Others& others, std::uint32_t least) {
  const auto twice = static_cast<double>(2 * std::max(healthy, others.usual) + 1);
  return std::max<double>(least, twice);
}

std::string usual_text(const ScheduleNorm& norm, std::size_t healthy, const Others& others) {
  std::string text = "other requests of this run: at most " + std::to_string(others.largest);
  if (norm.known) text += "; healthy runs: at most " + std::to_string(healthy);
  return text;
}

Reason start_reason(const Chains& chains, const char* kind,
                    const std::vector<std::uint32_t>& rows) {
  Reason reason;
  reason.kind = kind;
  for (const std::uint32_t row : rows) {
    reason.steps.push_back(chains.rows.step[row]);
    reason.nodes.push_back(chains.rows.node[row]);
  }
  if (!reason.steps.empty()) {
    reason.nodes.insert(reason.nodes.begin(), chains.steps.schedule[reason.steps.front()]);
  }
  return reason;
}

void judge_passed_over(const Chains& chains, std::uint32_t request,
                       const std::vector<RequestSchedule>& schedule, const ScheduleNorm& norm,
                       const SliceOptions& options, Findings& findings) {
  const std::vector<std::uint32_t>& rows = schedule[request].passed_over;
  if (rows.size() < options.min_passed_over) return;  // saves a look at all other requests
  const Others others = count_others(schedule, request, &RequestSchedule::passed_over);
  const double limit = threshold(norm.passed_over, others, options.min_passed_over);

  if (static_cast<double>(rows.size()) < limit) return;
  Reason reason = start_reason(chains, "passed_over", rows);
  reason.score = static_cast<double>(rows.size()) / limit;
  reason.text = "passed over in " + std::to_string(rows.size()) +
                (rows.size() == 1 ? " step" : " steps") +
                ": it had tokens to run, and a seat, token budget and KV blocks were free "
                "while others ran (" +
                usual_text(norm, norm.passed_over, others) + ")";
  std::int64_t longest = 0;
  for (const std::uint32_t row : rows) {
    longest = std::max(longest, chains.rows.since_served[row]);
  }
  reason.effect = {{"steps", rows.size()},
                   {"served_steps", schedule[request].served},
                   {"longest_wait_steps", longest},
                   {"others_at_most", others.largest},
                   {"threshold", limit}};
  if (norm.known) reason.effect["baseline_at_most"] = norm.passed_over;
  findings.blame(request, std::move(reason));
}

void judge_preempted(const Chains& chains, std::uint32_t request,
                     const std::vector<RequestSchedule>& schedule, const ScheduleNorm& norm,
                     const SliceOptions& options, Findings& findings) {
  const RequestSchedule& own = schedule[request];
  if (own.preempted.size() < options.min_preemptions) return;
  const Others others = count_others(schedule, request, &RequestSchedule::preempted);
  const double limit = threshold(norm.preemptions, others, options.min_preemptions);

  if (static_cast<double>(own.preempted.size()) < limit) return;
  Reason reason = start_reason(chains, "preempted", own.preempted);
  reason.score = static_cast<double>(own.preempted.size()) / limit;
  reason.text = "lost its KV blocks " + std::to_string(own.preempted.size()) +
                " times for want of a free one, and recomputed " +
                std::to_string(own.recomputed_tokens) + " tokens (preemptions of " +
                usual_text(norm, norm.preemptions, others) + ")";
  reason.effect = {{"preemptions", own.preempted.size()},        {"lost_tokens", own.lost_tokens},
                   {"recomputed_tokens", own.recomputed_tokens}, {"served_steps", own.served},
                   {"others_at_most", others.largest},           {"threshold", limit}};
  if (norm.known) reason.effect["baseline_at_most"] = norm.preemptions;
  findings.blame(request, std::move(reason));
}

// A pool that is short for everyone is the run's matter, not one request's.
void judge_pool(const std::vector<RequestSchedule>& schedule, const ScheduleNorm& norm,
                Findings& findings) {
  std::size_t preemptions = 0, requests = 0, served = 0;
  for (const RequestSchedule& one : schedule) {
    preemptions += one.preempted.size();
    requests += one.preempted.empty() ? 0 : 1;
    served += one.served;
  }
  if (preemptions == 0) return;
  const std::string counts =
      std::to_string(preemptions) + " preemptions of " + std::to_string(requests) + " requests";
  if (!norm.known) {
    findings.notes.push_back(counts + ": whether that is usual here needs a baseline");
    return;
  }
  const double expected = norm.preemptions_per_served * static_cast<double>(served);
  // Preemptions come in clusters, so the margin is wider than a Poisson count's.
  const double limit = 3 * expected + 4 * std::sqrt(expected) + 5;
  if (requests < 3 || 2 * requests < schedule.size() || static_cast<double>(preemptions) < limit) {
    return;
  }
  Reason reason;
  reason.kind = "pool_short";
  reason.score = static_cast<double>(preemptions) / limit;
  reason.text = "the KV pool is short: " + counts + ", " +
                std::to_string(static_cast<long long>(std::llround(expected))) + " would be usual";
  reason.effect = {{"preemptions", preemptions},
                   {"requests", requests},
                   {"expected", expected},
                   {"threshold", limit}};
  findings.run.push_back(std::move(reason));
}

}  // namespace

double kv_block_tokens(const Chains& chains) {
  const BlockSize size(chains);
  return size.known() ? size.tokens() : 0;
}

std::vector<RequestSchedule> read_schedule(const Chains& chains) {
  std::vector<RequestSchedule> schedule(chains.request_count());
  Overtaking(chains).read(schedule);
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    RequestSchedule& own = schedule[chains.rows.request[row]];
    const auto phase = static_cast<RowPhase>(chains.rows.phase[row]);
    if (phase == RowPhase::kPreempted) {
      own.preempted.push_back(row);
      own.lost_tokens = saturating_add(own.lost_tokens, chains.rows.computed[row]);
    } else if (phase != RowPhase::kWaiting) {
      ++own.served;
      own.recomputed_tokens += std::min(chains.rows.scheduled[row],
                                        std::max<std::int64_t>(0, chains.rows.computed_fall[row]));
    }
  }
  return schedule;
}

void widen(ScheduleNorm& norm, const std::vector<RequestSchedule>& schedule) {
  double preemptions = 0, served = 0;
  for (const RequestSchedule& one : schedule) {
    norm.known = norm.known || one.served > 0;
    norm.passed_over = std::max(norm.passed_over, one.passed_over.size());
    norm.preemptions = std::max(norm.preemptions, one.preempted.size());
    preemptions += static_cast<double>(one.preempted.size());
    served += one.served;
  }
  if (served > 0) {
    norm.preemptions_per_served = std::max(norm.preemptions_per_served, preemptions / served);
  }
}

void judge_schedule(const Chains& chains, const ScheduleNorm& norm, const SliceOptions& options,
                    Findings& findings) {
  const std::vector<RequestSchedule> schedule = read_schedule(chains);
  std::size_t unjudged = 0;
  for (std::uint32_t request = 0; request < schedule.size(); ++request) {
    judge_passed_over(chains, request, schedule, norm, options, findings);
    judge_preempted(chains, request, schedule, norm, options, findings);
    unjudged += schedule[request].unjudged_waits;
  }
  judge_pool(schedule, norm, findings);
  if (chains.row_count() == 0) {
    findings.notes.push_back(
        "no step record: which requests waited or were preempted is not known");
  } else if (unjudged > 0) {
    findings.notes.push_back(
        std::to_string(unjudged) +
        " waits of requests that others overtook could not be judged: what "
        "they needed is not known (never served again), or the step record has "
        "neither token budget nor KV blocks");
  }
}

}  // namespace teller::slice_detail
