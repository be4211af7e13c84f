#include "slice/findings_json.h"

#include <algorithm>
#include <map>

namespace teller::slice_detail {
namespace {

constexpr std::size_t kMostSteps = 200;    // of one reason, in the file
constexpr std::size_t kMostEvidence = 20;  // nodes and log lines of one reason

// The log lines that may belong to a reason: those that name its request at level WARNING or above,
// and ERROR lines of its steps. They support a finding and never make one.
class LogIndex {
 public:
  explicit LogIndex(const Chains& chains) {
    for (std::uint32_t line = 0; line < chains.log_count(); ++line) {
      const Severity severity = severity_of(chains.string(chains.logs.level[line]));
      if (severity == Severity::kNone) continue;
      add(of_request_, chains.logs.request[line], line);
      if (severity == Severity::kError) add(errors_of_step_, chains.logs.step[line], line);
    }
  }

  // The first of them.
  std::vector<std::uint32_t> lines(const Reason& reason, std::uint32_t request) const {
    std::vector<std::uint32_t> lines;
    take(of_request_, request, lines);
    if (!errors_of_step_.empty()) {
      for (const std::uint32_t step : reason.steps) take(errors_of_step_, step, lines);
    }
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    lines.resize(std::min(lines.size(), kMostEvidence));
    return lines;
  }

 private:
  using Lines = std::map<std::uint32_t, std::vector<std::uint32_t>>;

  // More than a reason shows is never needed of one step or request.
  static void add(Lines& index, std::uint32_t key, std::uint32_t line) {
    if (key == kNoIndex) return;
    std::vector<std::uint32_t>& list = index[key];
    if (list.size() < kMostEvidence) list.push_back(line);
  }
  static void take(const Lines& index, std::uint32_t key, std::vector<std::uint32_t>& lines) {
    const auto found = index.find(key);
    if (found == index.end()) return;
    lines.insert(lines.end(), found->second.begin(), found->second.end());
  }

  Lines of_request_, errors_of_step_;
};

// What every reason needs.
struct Context {
  const Case& c;
  const RunName& run;
  LogIndex logs;
};

Json reason_json(const Context& context, const Reason& reason, std::uint32_t request) {
  const Chains& chains = context.c.chains;
  Json json;
  json["kind"] = reason.kind;
  json["text"] = reason.text;
  json["score"] = rounded(reason.score);
  json["suspicious"] = reason.suspicious;
  json["effect"] = reason.effect;
  json["step_count"] = reason.steps.size();
  json["steps"] = Json::array();
  json["step_numbers"] = Json::array();  // the engine's own, -1 where it has none
  for (std::size_t i = 0; i < std::min(reason.steps.size(), kMostSteps); ++i) {
    json["steps"].push_back(reason.steps[i]);
    json["step_numbers"].push_back(chains.steps.number[reason.steps[i]]);
  }
  json["operators"] = reason.operators;
  json["evidence_nodes"] = Json::array();
  for (std::size_t i = 0; i < std::min(reason.nodes.size(), kMostEvidence); ++i) {
    json["evidence_nodes"].push_back(locator(chains, context.run, reason.nodes[i]));
  }
  json["log_lines"] = context.logs.lines(reason, request);
  return json;
}

Json request_json(const Context& context, const RequestFinding& finding) {
  const Chains& chains = context.c.chains;
  Json json;
  json["id"] = chains.string(chains.requests.id[finding.request]);
  json["request"] = finding.request;
  json["score"] = rounded(finding.score);
  json["reasons"] = Json::array();
  for (const Reason& reason : finding.reasons) {
    json["reasons"].push_back(reason_json(context, reason, finding.request));
  }
  return json;
}

Json operator_json(const Case& c, const OperatorFinding& finding) {
  const OpKey& key = c.keys.key(finding.key);
  return {{"kind", finding.kind},
          {"layer", layer_name(key.layer)},
          {"family", key.family},
          {"phase", phase_name(key.phase)},
          {"effect",
           {{"ratio", rounded(finding.ratio)},
            {"relative_ratio", rounded(finding.relative_ratio)},
            {"step_share", rounded(finding.step_share)}}},
          {"z", rounded(finding.z)},
          {"instances", finding.instances},
          {"steps", finding.steps},
          {"score", rounded(finding.score)},
          {"suspicious", finding.suspicious}};
}

// A request's score is its strongest reason's, plus a little for each further one.
void rank(Findings& findings) {
  const auto stronger = [](const Reason& a, const Reason& b) { return a.score > b.score; };
  for (RequestFinding& finding : findings.requests) {
    std::stable_sort(finding.reasons.begin(), finding.reasons.end(), stronger);
    finding.score =
        finding.reasons.front().score + 0.1 * static_cast<double>(finding.reasons.size() - 1);
  }
  std::sort(findings.requests.begin(), findings.requests.end(),
            [](const RequestFinding& a, const RequestFinding& b) {
              return std::tie(b.score, a.request) < std::tie(a.score, b.request);
            });
  std::stable_sort(findings.run.begin(), findings.run.end(), stronger);
  std::sort(findings.operators.begin(), findings.operators.end(),
            [](const OperatorFinding& a, const OperatorFinding& b) {
              return std::tie(b.suspicious, b.score, a.key) <
                     std::tie(a.suspicious, a.score, b.key);
            });
}

}  // namespace

bool is_suspicious(const Findings& findings) {
  return !findings.requests.empty() ||
         std::any_of(findings.run.begin(), findings.run.end(),
                     [](const Reason& reason) { return reason.suspicious; }) ||
         std::any_of(findings.operators.begin(), findings.operators.end(),
                     [](const OperatorFinding& finding) { return finding.suspicious; });
}

bool anything_judged(const Case& c) {
  if (c.chains.row_count() > 0) return true;
  return std::any_of(c.observations.begin(), c.observations.end(),
                     [&](const Observation& o) { return c.baseline.models[o.key].self.known(); });
}

Json findings_json(const Case& c, const RunName& run, Findings findings) {
  rank(findings);
  const Context context{c, run, LogIndex(c.chains)};
  Json json;
  json["verdict"] = {{"suspicious", is_suspicious(findings)},
                     {"judged", anything_judged(c)},
                     {"fault_type", nullptr},
                     {"note", "no fault type here: teller diagnose names it"}};
  json["requests"] = Json::array();
  for (const RequestFinding& finding : findings.requests) {
    json["requests"].push_back(request_json(context, finding));
  }
  json["run"] = Json::array();
  for (const Reason& reason : findings.run) {
    json["run"].push_back(reason_json(context, reason, kNoIndex));
  }
  json["operators"] = Json::array();
  for (const OperatorFinding& finding : findings.operators) {
    json["operators"].push_back(operator_json(c, finding));
  }
  json["instances"] = Json::array();
  for (const InstanceFinding& finding : findings.instances) {
    Json instance = locator(c.chains, run, finding.node);
    const std::uint32_t step = c.chains.nodes.step[finding.node];
    instance["number"] = step == kNoIndex ? -1 : c.chains.steps.number[step];
    instance["z"] = rounded(finding.z);
    instance["ratio"] = rounded(finding.ratio);
    instance["excess_ns"] = finding.excess_ns;
    json["instances"].push_back(std::move(instance));
  }
  json["notes"] = findings.notes;
  return json;
}

}  // namespace teller::slice_detail
