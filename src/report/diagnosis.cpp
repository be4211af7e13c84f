// What the diagnosis names, as places in the chains: diagnosis.json may be from anyone.
#include <algorithm>
#include <set>

#include "report/document.h"

namespace teller::report_detail {
namespace {

constexpr std::size_t kMostLogLines = 5;

// Log lines that the evidence cites.
std::set<std::uint32_t> cited_lines(const Source& source) {
  std::set<std::uint32_t> lines;
  for (const Json& one : member(source.diagnosis, "evidence")) {
    const std::uint32_t line = index_below(member(one, "log"), source.chains.log_count());
    if (line != kNoIndex) lines.insert(line);
  }
  return lines;
}

}  // namespace

bool is_abnormal(const Json& diagnosis) {
  return member(diagnosis, "abnormal") == true;
}

std::vector<std::uint32_t> diagnosed_requests(const Source& source) {
  const Chains& chains = source.chains;
  std::vector<std::uint32_t> found;
  if (!is_abnormal(source.diagnosis)) return found;
  std::size_t looked_at = 0;
  for (const Json& request : member(source.diagnosis, "requests")) {
    if (++looked_at > kMostDiagnosed) break;
    const Json id = member(request, "id");
    if (!id.is_string()) continue;
    const std::uint32_t index = find_request(chains, id.get_ref<const std::string&>());
    if (index != kNoIndex) found.push_back(index);
  }
  return found;
}

std::vector<std::uint32_t> diagnosed_steps(const Source& source) {
  std::set<std::uint32_t> steps;
  if (is_abnormal(source.diagnosis)) {
    for (const Json& step : member(source.diagnosis, "abnormal_steps")) {
      const std::uint32_t index = index_below(member(step, "step"), source.chains.step_count());
      if (index != kNoIndex) steps.insert(index);
    }
  }
  return {steps.begin(), steps.end()};
}

Json diagnosis_logs_json(const Source& source) {
  Json json = Json::array();
  if (!is_abnormal(source.diagnosis)) return json;
  const auto& logs = source.chains.logs;
  const std::set<std::uint32_t> cited = cited_lines(source);
  const std::vector<std::uint32_t> steps = diagnosed_steps(source);
  const std::vector<std::uint32_t> requests = diagnosed_requests(source);
  std::vector<std::uint32_t> lines(cited.begin(), cited.end());
  for (std::uint32_t line = 0; line < source.chains.log_count(); ++line) {
    if (!std::binary_search(steps.begin(), steps.end(), logs.step[line]) || cited.count(line) > 0)
      continue;
    const bool severe = severity_of(source.chains.string(logs.level[line])) != Severity::kNone;
    const bool named =
        std::find(requests.begin(), requests.end(), logs.request[line]) != requests.end();
    if (severe || named) lines.push_back(line);
  }
  lines.resize(std::min(lines.size(), kMostLogLines));
  std::sort(lines.begin(), lines.end());
  for (const std::uint32_t line : lines) json.push_back(log_json(source.chains, line));
  return json;
}

}  // namespace teller::report_detail
