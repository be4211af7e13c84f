#include "slice/schedule_signs.h"

#include <algorithm>
#include <cmath>

#include "slice/locate.h"
#include "slice/robust.h"

namespace teller::slice_detail {
namespace {

// Tokens that a KV block holds, never more than the truth: blocks are rounded up, and some may be
// held by nobody that the record names. 0 where the record says nothing about blocks.
double tokens_per_block(const Chains& chains) {
  std::vector<double> ratios;
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (chains.steps.kv_free[step] < 0 || chains.steps.kv_total[step] < 0) continue;
    const int used = chains.steps.kv_total[step] - chains.steps.kv_free[step];
    std::int64_t held = 0;
    const auto first = chains.steps.first_row[step];
    for (auto row = first; row < first + chains.steps.row_count[step]; ++row) {
      if (chains.rows.phase[row] == static_cast<std::uint8_t>(RowPhase::kPreempted)) continue;
      held += chains.rows.computed[row] + chains.rows.scheduled[row];
    }
    if (used > 0 && held > 0) ratios.push_back(static_cast<double>(held) / used);
  }
  return median(std::move(ratios));
}

// Tokens that each row's request is given the next time it is served; 1 where it never is again.
std::vector<std::int64_t> next_scheduled(const Chains& chains) {
  std::vector<std::int64_t> next(chains.row_count(), 1);
  std::vector<std::int64_t> latest(chains.request_count(), 1);
  for (std::uint32_t row = static_cast<std::uint32_t>(chains.row_count()); row-- > 0;) {
    const std::uint32_t request = chains.rows.request[row];
    next[row] = latest[request];
    if (chains.rows.scheduled[row] > 0) latest[request] = chains.rows.scheduled[row];
  }
  return next;
}

enum class Room { kNone, kEnough, kUnknown };

// Whether step `step` had seat, budget and blocks left for a request that waits in it.
Room room_for(const Chains& chains, std::uint32_t row, std::int64_t tokens, double block_tokens) {
  const std::uint32_t step = chains.rows.step[row];
  const bool holds_seat = chains.rows.computed[row] > 0;
  const bool knows_budget = chains.steps.token_limit[step] >= 0 && chains.steps.tokens[step] >= 0;
  const bool knows_blocks = chains.steps.kv_free[step] >= 0;
  const bool knows_seats = chains.steps.seq_limit[step] >= 0 && chains.steps.seqs[step] >= 0;
  if (knows_budget && chains.steps.token_limit[step] - chains.steps.tokens[step] < tokens) {
    return Room::kNone;
  }
  if (knows_blocks) {
    const double needed =
        block_tokens > 0 ? std::ceil(static_cast<double>(tokens) / block_tokens) : 1.0;
    if (chains.steps.kv_free[step] < std::max(needed, 1.0)) return Room::kNone;
  }
  if (!holds_seat && knows_seats && chains.steps.seqs[step] >= chains.steps.seq_limit[step]) {
    return Room::kNone;
  }
  return knows_budget || knows_blocks || holds_seat ? Room::kEnough : Room::kUnknown;
}

// Whether others ran in the step, and none of them was preempted: blocks that a preemption gives
// back count as free at the end of scheduling, but were not when the waiting request had its turn.
bool others_ran_in_peace(const Chains& chains, std::uint32_t step) {
  bool served = false;
  const auto first = chains.steps.first_row[step];
  for (auto row = first; row < first + chains.steps.row_count[step]; ++row) {
    if (chains.rows.phase[row] == static_cast<std::uint8_t>(RowPhase::kPreempted)) return false;
    served = served || chains.rows.scheduled[row] > 0;
  }
  return served;
}

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
  const Others others = count_others(schedule, request, &RequestSchedule::passed_over);
  const double limit = threshold(norm.passed_over, others, options.min_passed_over);

  if (static_cast<double>(rows.size()) < limit) return;
  Reason reason = start_reason(chains, "passed_over", rows);
  reason.score = static_cast<double>(rows.size()) / limit;
  reason.text = "passed over in " + std::to_string(rows.size()) +
                " steps: it had tokens to run, and a seat, token budget and KV blocks were free "
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

std::vector<RequestSchedule> read_schedule(const Chains& chains) {
  std::vector<RequestSchedule> schedule(chains.request_count());
  const double block_tokens = tokens_per_block(chains);
  const std::vector<std::int64_t> next = next_scheduled(chains);
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    RequestSchedule& own = schedule[chains.rows.request[row]];
    const auto phase = static_cast<RowPhase>(chains.rows.phase[row]);
    if (phase == RowPhase::kPreempted) {
      own.preempted.push_back(row);
      own.lost_tokens += chains.rows.computed[row];
    } else if (phase == RowPhase::kWaiting) {
      const Room room = room_for(chains, row, next[row], block_tokens);
      if (room == Room::kUnknown) ++own.unjudged_waits;
      if (room == Room::kEnough && others_ran_in_peace(chains, chains.rows.step[row])) {
        own.passed_over.push_back(row);
      }
    } else {
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
    findings.notes.push_back(std::to_string(unjudged) +
                             " waits could not be judged: the step record has neither token budget "
                             "nor KV blocks");
  }
}

}  // namespace teller::slice_detail
