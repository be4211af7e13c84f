#include "learn/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace teller::learn_detail {

namespace {

constexpr std::size_t kLongestName = 100;

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

std::string request_id(const Judged& judged, std::uint32_t request) {
  const Chains& chains = judged.run->chains;
  return std::string(chains.string(chains.requests.id[request]));
}

std::string step_words(const Judged& judged, std::size_t unit) {
  const Chains& chains = judged.run->chains;
  const std::uint32_t step = judged.samples[unit]->step;
  const std::int64_t known = chains.steps.number[step];
  return "step " + (known >= 0 ? std::to_string(known) : "#" + std::to_string(step));
}

std::string quoted(std::string_view name) {
  std::string text(name.substr(0, kLongestName));
  if (text.size() < name.size()) text += "…";
  return "\"" + text + "\"";
}

std::string operator_words(const Judged& judged, std::uint32_t node, std::int32_t rank) {
  const Chains& chains = judged.run->chains;
  std::string text = quoted(chains.string(chains.nodes.name[node])) + " (" +
                     std::string(layer_name(chains.layer(node)));
  if (rank >= 0) text += ", rank " + std::to_string(rank);
  return text + ")";
}

// The deviation that is largest, in words; "" if there is none.
std::string deviation_words(const NodeFeatures& f) {
  if (f[kReturnCode] > 0) return "the call failed";
  if (f[kOpen] > 0) return "it had not ended";
  if (f[kPassedOver] > 0) {
    return "it was passed over though it could have run, " + number(std::expm1(f[kSinceServed])) +
           " steps after it was last served";
  }
  if (f[kComputedFall] > 0) {
    return number(std::expm1(f[kComputedFall])) + " computed tokens were lost, " +
           number(100 * f[kKvUsed]) + " % of the KV blocks were in use";
  }
  struct Named {
    Feature feature;
    const char* words;
  };
  constexpr Named kNamed[] = {{kZMates, "slower than the same operator of its batch-mates"},
                              {kZSelf, "own time above what is expected"},
                              {kZDuration, "duration above what is expected"},
                              {kBandwidth, "transfer slower than expected"},
                              {kLateness, "arrived later than the other ranks"},
                              {kPresence, "not expected in a step of this kind"},
                              {kGap, "idle before it for longer than usual"},
                              {kQueueDelay, "started later after its launch than usual"}};
  const Named* best = nullptr;
  for (const Named& named : kNamed) {
    if (f[named.feature] > 0.5F && (best == nullptr || f[named.feature] > f[best->feature])) {
      best = &named;
    }
  }
  if (best == nullptr) return "";
  return std::string(best->words) + " (deviation " + number(f[best->feature]) + ")";
}

std::string what_failed(const Findings& f) {
  const RunVerdict& v = f.verdict;
  if (v.unknown)
    return "The run is abnormal, but its abnormal steps do not agree on one kind of fault.";
  std::string text = "The run shows a " + std::string(fault_type_words(v.type)) + " fault";
  if (f.requests.size() == 1) {
    const std::uint32_t request = f.requests[0].request;
    text += std::string(request_role(f, request) == "culprit" ? " in request "
                                                              : " that hits request ") +
            request_id(f.judged, request);
  } else if (f.requests.size() > 1) {
    text += " that shows in " + std::to_string(f.requests.size()) + " requests, " +
            request_id(f.judged, f.requests[0].request) + " most";
  }
  return text + ".";
}

std::string where_and_when(const Findings& f) {
  const auto& units = f.verdict.agreeing_units;
  std::string text = "It first showed in " + step_words(f.judged, units.front()) +
                     " and is seen in " + std::to_string(units.size()) + " of " +
                     std::to_string(f.judged.samples.size()) + " steps";
  if (!f.operators.empty()) {
    text +=
        ", most of all at " + operator_words(f.judged, f.operators[0].node, f.operators[0].rank);
  }
  if (!f.ranks.empty()) text += ", on rank " + std::to_string(f.ranks[0].first);
  return text + ".";
}

std::string why(const Findings& f) {
  if (f.evidence.empty()) return "No single operator or log line carries the verdict alone.";
  std::string text = "What speaks for it most: " + describe(f.judged, f.evidence[0]) + ".";
  const auto line = std::find_if(f.evidence.begin(), f.evidence.end(),
                                 [](const Evidence& one) { return one.is_log; });
  if (line != f.evidence.end() && line != f.evidence.begin()) {
    text += " The log agrees: " + describe(f.judged, *line) + ".";
  }
  return text;
}

std::string next_check(FaultType type, bool unknown) {
  if (unknown) return "Look at the abnormal steps in the report, and compare with a healthy run.";
  switch (type) {
    case FaultType::kMemory:
      return "Check who holds the KV blocks or device memory at that time, and whether the pool is "
             "as large as in healthy runs.";
    case FaultType::kCudaKernel:
      return "Check which kernel was chosen there and why: backend, shapes, and what changed since "
             "a "
             "healthy run.";
    case FaultType::kRuntimeDriver:
      return "Check clocks, power and throttle reasons of the device, and what the blocking call "
             "waited for.";
    case FaultType::kCommunication:
      return "Check the link between the ranks named: bandwidth, error counters, and whether all "
             "ranks called the same collectives.";
    case FaultType::kScheduling:
      return "Check the scheduler's order and limits for that request, and what the host did in "
             "between.";
    case FaultType::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string_view fault_type_words(FaultType type) {
  switch (type) {
    case FaultType::kNone:
      return "no";
    case FaultType::kMemory:
      return "memory/resource";
    case FaultType::kCudaKernel:
      return "CUDA/kernel";
    case FaultType::kRuntimeDriver:
      return "runtime/driver";
    case FaultType::kCommunication:
      return "communication/network";
    case FaultType::kScheduling:
      return "scheduling/software";
  }
  return "?";
}

std::string_view request_role(const Findings& f, std::uint32_t request) {
  const Chains& chains = f.judged.run->chains;
  for (const OperatorVerdict& op : f.operators) {
    if (chains.nodes.request[op.node] != request) continue;
    return (chains.nodes.flags[op.node] & kNodeRow) != 0 ? "victim" : "culprit";
  }
  return "victim";
}

std::string describe(const Judged& judged, const Evidence& evidence) {
  const Chains& chains = judged.run->chains;
  const std::string place = " in " + step_words(judged, evidence.unit);
  if (evidence.is_log) {
    return "the log line " + quoted(chains.string(chains.logs.text[evidence.line])) + place;
  }
  const std::uint32_t node = node_of_token(*judged.run, evidence.token);
  std::string text = operator_words(judged, node, judged.run->tokens.tokens.rank[evidence.token]);
  const std::uint32_t request = chains.nodes.request[node];
  if (request != kNoIndex) text += " of request " + request_id(judged, request);
  text += place;
  const std::string deviation = deviation_words(evidence.features);
  return deviation.empty() ? text : text + ": " + deviation;
}

std::string explain(const Findings& f) {
  if (!f.comparable) {
    return "Nothing could be judged: no operator of the run has an expected time, and no schedule "
           "was recorded. Give healthy runs of the same program with --baseline.";
  }
  if (!f.verdict.abnormal) {
    return "The run is healthy: " + std::to_string(f.verdict.abnormal_units.size()) + " of " +
           std::to_string(f.judged.samples.size()) +
           " steps look abnormal, which is no more than in healthy runs.";
  }
  return what_failed(f) + " " + where_and_when(f) + " " + why(f) + " The probability is " +
         number(f.probability) + ". " + next_check(f.verdict.type, f.verdict.unknown);
}

}  // namespace teller::learn_detail
