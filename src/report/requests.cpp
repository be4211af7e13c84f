// The requests of the report, and which step's chain is shown.
#include <algorithm>
#include <tuple>

#include "base/saturate.h"
#include "report/document.h"

namespace teller::report_detail {
namespace {

Json span_or_null(std::int64_t from, std::int64_t to) {
  return from < 0 || to < 0 ? Json() : Json(saturating_sub(to, from));
}

Json request_json(const Chains& chains, std::uint32_t request, bool suspicious) {
  const auto& r = chains.requests;
  Json json;
  json["id"] = chains.string(r.id[request]);
  json["request"] = request;
  json["suspicious"] = suspicious;
  json["arrival_ns"] = r.first_seen_ns[request];
  json["queue_ns"] = span_or_null(r.first_seen_ns[request], r.first_scheduled_ns[request]);
  json["ttft_ns"] = span_or_null(r.first_seen_ns[request], r.first_token_ns[request]);
  json["latency_ns"] = span_or_null(r.first_seen_ns[request], r.last_ns[request]);
  json["steps"] = r.steps[request];
  json["prefill_tokens"] = r.prefill_tokens[request];
  json["decode_tokens"] = r.decode_tokens[request];
  json["waiting_steps"] = r.waiting_steps[request];
  json["preemptions"] = r.preemptions[request];
  return json;
}

std::int64_t duration(const Chains& chains, std::uint32_t step) {
  return saturating_sub(chains.steps.end_ns[step], chains.steps.begin_ns[step]);
}

// The slowest of `steps`; kNoIndex if there are none.
std::uint32_t slowest(const Chains& chains, const std::vector<std::uint32_t>& steps) {
  std::uint32_t found = kNoIndex;
  for (const std::uint32_t step : steps) {
    if (found == kNoIndex || duration(chains, step) > duration(chains, found)) found = step;
  }
  return found;
}

// Steps in which the request got tokens; every step that knew it if it never did.
std::vector<std::uint32_t> steps_of(const Chains& chains, std::uint32_t request) {
  std::vector<std::uint32_t> served, known;
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    if (chains.rows.request[row] != request) continue;
    known.push_back(chains.rows.step[row]);
    if (chains.rows.scheduled[row] > 0) served.push_back(chains.rows.step[row]);
  }
  return served.empty() ? known : served;
}

// The engine's number where steps have one; the first match where several engines share it.
std::uint32_t find_step(const Chains& chains, std::int64_t number) {
  for (std::uint32_t step = 0; step < chains.step_count(); ++step) {
    if (step_number(chains, step) == number) return step;
  }
  return kNoIndex;
}

Error no_such(const std::string& what, const std::string& run, const std::string& hint) {
  return {ErrorCode::kNotFound, "report: run " + run + " has no " + what, hint};
}

// The steps that the findings' strongest reason against their first request names.
std::vector<std::uint32_t> evidence_steps(const Source& source) {
  std::vector<std::uint32_t> steps;
  const Json requests = member(source.findings, "requests");
  if (!requests.is_array() || requests.empty()) return steps;
  const Json reasons = member(requests.front(), "reasons");
  if (!reasons.is_array() || reasons.empty()) return steps;
  for (const Json& step : member(reasons.front(), "steps")) {
    const std::uint32_t index = index_below(step, source.chains.step_count());
    if (index != kNoIndex) steps.push_back(index);
  }
  return steps;
}

std::string slowest_later(const Chains& chains, std::uint32_t chosen) {
  const auto count = static_cast<std::uint32_t>(chains.step_count());
  const std::uint32_t warm = std::max<std::uint32_t>(count / 10, 1);
  if (chosen >= warm || count <= warm + 1) return "";
  std::vector<std::uint32_t> later;
  for (std::uint32_t step = warm; step < count; ++step) later.push_back(step);
  return "; after the first tenth of the run the slowest is step " +
         std::to_string(step_number(chains, slowest(chains, later)));
}

}  // namespace

std::uint32_t find_request(const Chains& chains, std::string_view id) {
  for (std::uint32_t request = 0; request < chains.request_count(); ++request) {
    if (chains.string(chains.requests.id[request]) == id) return request;
  }
  return kNoIndex;
}

std::vector<std::uint32_t> suspects(const Source& source) {
  std::vector<std::uint32_t> list;
  std::vector<bool> seen(source.chains.request_count(), false);
  for (const Json& request : member(source.findings, "requests")) {
    const std::uint32_t index =
        index_below(member(request, "request"), source.chains.request_count());
    if (index == kNoIndex || seen[index]) continue;
    seen[index] = true;
    list.push_back(index);
  }
  return list;
}

std::vector<bool> suspect_flags(const Source& source) {
  std::vector<bool> flags(source.chains.request_count(), false);
  for (const std::uint32_t request : suspects(source)) flags[request] = true;
  return flags;
}

Json requests_json(const Source& source) {
  const Chains& chains = source.chains;
  const std::vector<std::uint32_t> suspicious = suspects(source);
  const std::vector<bool> is_suspect = suspect_flags(source);
  std::vector<std::uint32_t> others;
  for (std::uint32_t request = 0; request < chains.request_count(); ++request) {
    if (!is_suspect[request]) others.push_back(request);
  }
  const auto latency = [&chains](std::uint32_t request) {
    const bool known =
        chains.requests.first_seen_ns[request] >= 0 && chains.requests.last_ns[request] >= 0;
    return known ? chains.requests.last_ns[request] - chains.requests.first_seen_ns[request] : -1;
  };
  std::stable_sort(others.begin(), others.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return latency(a) > latency(b); });
  Json json = Json::array();
  for (const std::uint32_t request : suspicious) {
    json.push_back(request_json(chains, request, true));
  }
  for (const std::uint32_t request : others) json.push_back(request_json(chains, request, false));
  std::vector<Json> steps(chains.request_count(), Json::array());
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    if (chains.rows.scheduled[row] > 0) {
      steps[chains.rows.request[row]].push_back(chains.rows.step[row]);
    }
  }
  for (Json& one : json) one["in_steps"] = std::move(steps[one["request"].get<std::uint32_t>()]);
  return json;
}

Json request_steps_json(const Source& source, std::uint32_t request) {
  const Chains& chains = source.chains;
  Json json = Json::array();
  for (std::uint32_t row = 0; row < chains.row_count(); ++row) {
    if (chains.rows.request[row] != request) continue;
    const std::uint32_t step = chains.rows.step[row];
    Json one = step_json(chains, step);
    one["phase"] = row_phase_name(static_cast<RowPhase>(chains.rows.phase[row]));
    one["scheduled"] = chains.rows.scheduled[row];
    one["computed"] = chains.rows.computed[row];
    one["since_served"] = chains.rows.since_served[row];
    one["step_ns"] = duration(chains, step);
    one["tokens"] = chains.steps.tokens[step];
    one["token_limit"] = chains.steps.token_limit[step];
    one["kv_free"] = chains.steps.kv_free[step];
    json.push_back(std::move(one));
  }
  return json;
}

namespace {

Result<ChainChoice> choose_step(const Source& source) {
  const Chains& chains = source.chains;
  ChainChoice choice;
  if (source.options.request) {
    choice.request = find_request(chains, *source.options.request);
    if (choice.request == kNoIndex) {
      return no_such("request " + *source.options.request, source.run.path(),
                     "teller report without --request lists them");
    }
    choice.step = slowest(chains, steps_of(chains, choice.request));
    choice.why = "the slowest step of the request asked for";
  }
  if (source.options.step) {
    choice.step = find_step(chains, *source.options.step);
    if (choice.step == kNoIndex) {
      return no_such("step " + std::to_string(*source.options.step), source.run.path(),
                     "teller dump RUN chains.steps lists them");
    }
    choice.why = "the step asked for";
  }
  if (choice.step != kNoIndex || source.options.request) return choice;
  const std::vector<std::uint32_t> suspicious = suspects(source);
  if (!suspicious.empty()) {
    choice.request = suspicious.front();
    choice.step = slowest(chains, evidence_steps(source));
    choice.why = "the slowest step in which the most suspicious request shows it";
    if (choice.step != kNoIndex) return choice;
  }
  choice.step = slowest(chains, diagnosed_steps(source));
  if (choice.step != kNoIndex) {
    const std::vector<std::uint32_t> named = diagnosed_requests(source);
    choice.request = named.empty() ? kNoIndex : named.front();
    choice.why = "the slowest step that the diagnosis calls abnormal";
    return choice;
  }
  std::vector<std::uint32_t> all(chains.step_count());
  for (std::uint32_t step = 0; step < all.size(); ++step) all[step] = step;
  choice.step = slowest(chains, all);
  choice.request = kNoIndex;
  if (choice.step != kNoIndex) {
    choice.why = "the slowest step of the run" + slowest_later(chains, choice.step);
  }
  return choice;
}

struct Outside {
  std::uint32_t root = kNoIndex;  // kNoIndex if all lies in steps
  std::size_t others = 0;         // processes whose nodes outside any step are in other trees
};

// The root with the most nodes of what lies outside any step.
Outside largest_outside(const Chains& chains) {
  std::uint32_t found = kNoIndex, size = 0, root = kNoIndex, begin = 0;
  std::size_t trees = 0;
  const auto count = static_cast<std::uint32_t>(chains.node_count());
  for (std::uint32_t node = 0; node <= count; ++node) {
    if (node < count && chains.nodes.parent[node] != kNoIndex) continue;
    if (root != kNoIndex && node - begin > 1) ++trees;
    if (root != kNoIndex && node - begin > size) found = root, size = node - begin;
    root = node < count && chains.nodes.step[node] == kNoIndex ? node : kNoIndex;
    begin = node;
  }
  return {found, trees > 1 ? trees - 1 : 0};
}

}  // namespace

Result<ChainChoice> choose_chain(const Source& source) {
  TELLER_TRY(ChainChoice choice, choose_step(source));
  const Chains& chains = source.chains;
  if (choice.step != kNoIndex) choice.root = chains.steps.root[choice.step];
  const bool asked = source.options.step || source.options.request;
  if (asked || (choice.step != kNoIndex && chains.steps.node_count[choice.step] > 1)) return choice;
  const Outside outside = largest_outside(chains);
  if (outside.root == kNoIndex) return choice;
  std::string why = choice.step == kNoIndex ? "no step was found" : "the steps hold no operators";
  why += ": what lies outside any step";
  if (outside.others > 0) {
    why += ", in the process with the most of it (" + std::to_string(outside.others) +
           " more: teller dump RUN chains.nodes)";
  }
  return ChainChoice{kNoIndex, outside.root, kNoIndex, why};
}

}  // namespace teller::report_detail
