// Log lines that stand beside what the report shows.
#include <algorithm>

#include "report/document.h"

namespace teller::report_detail {
namespace {

std::string_view rule_name(LogRule rule) {
  switch (rule) {
    case LogRule::kNone:
      return "none";
    case LogRule::kRequest:
      return "request";
    case LogRule::kInFlight:
      return "in flight";
    case LogRule::kNearest:
      return "nearest";
  }
  return "?";
}

// How much a line has to do with what is shown: 0 nothing. Higher goes first where room is short.
int relevance(const Source& source, const ChainChoice& choice, const std::vector<bool>& suspicious,
              std::uint32_t line) {
  const Chains& chains = source.chains;
  const bool severe = severity_of(chains.string(chains.logs.level[line])) != Severity::kNone;
  const std::uint32_t request = chains.logs.request[line];
  const bool of_suspect = request != kNoIndex && (request == choice.request || suspicious[request]);
  const bool in_step = choice.step != kNoIndex && chains.logs.step[line] == choice.step;
  if (of_suspect) return severe ? 4 : 3;
  if (in_step) return 3;
  return severe ? 2 : 0;
}

}  // namespace

Json log_json(const Chains& chains, std::uint32_t line) {
  Json json;
  json["line"] = line;
  json["time_ns"] = chains.logs.time_ns[line];
  json["level"] = chains.string(chains.logs.level[line]);
  json["stream"] = chains.string(chains.logs.stream[line]);
  json["step"] = nullptr;
  const std::uint32_t step = chains.logs.step[line];
  if (step != kNoIndex) json["step"] = step_json(chains, step);
  json["request"] = nullptr;
  const std::uint32_t request = chains.logs.request[line];
  if (request != kNoIndex) json["request"] = chains.string(chains.requests.id[request]);
  json["rule"] = rule_name(static_cast<LogRule>(chains.logs.rule[line]));
  json["text"] = chains.string(chains.logs.text[line]);
  return json;
}

Json logs_json(const Source& source, const ChainChoice& choice) {
  std::vector<bool> suspicious = suspect_flags(source);
  for (const std::uint32_t request : diagnosed_requests(source)) suspicious[request] = true;
  std::vector<std::pair<int, std::uint32_t>> lines;  // -relevance, line
  for (std::uint32_t line = 0; line < source.chains.log_count(); ++line) {
    const int rank = relevance(source, choice, suspicious, line);
    if (rank > 0) lines.emplace_back(-rank, line);
  }
  std::stable_sort(lines.begin(), lines.end());
  const std::size_t all = lines.size();
  lines.resize(std::min<std::size_t>(all, source.options.max_log_lines));
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  Json json = {{"lines", Json::array()}, {"left_out", all - lines.size()}};
  for (const auto& [rank, line] : lines) json["lines"].push_back(log_json(source.chains, line));
  return json;
}

}  // namespace teller::report_detail
