// The verdict at the head of the report's text. Every field of the diagnosis may be missing or of
// another type.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include "report/document.h"
#include "report/terminal.h"
#include "report/text_sections.h"

namespace teller::report_detail {
namespace {

constexpr std::size_t kMostShown = 5;  // of requests, operators, evidence
constexpr std::size_t kMostRanges = 24;

std::string line(const TextStyle& style, std::string_view first, const std::string& text) {
  return wrap(text, static_cast<std::size_t>(std::max(style.width, 40)), first);
}

// Three significant digits.
std::string significant(const Json& value) {
  if (!value.is_number()) return "–";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value.get<double>());
  return text.data();
}

std::optional<std::int64_t> integer(const Json& value) {
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= INT64_MAX
                                               : value.is_number_integer();
  return fits ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::string fault_words(const Json& fault_type) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"memory", "memory/resource fault"},         {"cuda_kernel", "CUDA/kernel fault"},
      {"runtime_driver", "runtime/driver fault"},  {"communication", "communication/network fault"},
      {"scheduling", "scheduling/software fault"}, {"unknown", "abnormal, cause unknown"}};
  for (const auto& [name, words] : kWords) {
    if (fault_type == std::string(name)) return std::string(words);
  }
  return "abnormal, fault type " + shown(fault_type);
}

std::string headline(const Json& diagnosis, const TextStyle& style) {
  const Json abnormal = member(diagnosis, "abnormal");
  if (!abnormal.is_boolean()) {
    return paint(style, Ink::kYellow, "Verdict: the diagnosis states none") + "\n";
  }
  const bool healthy = abnormal == false;
  if (healthy && member(diagnosis, "judged") == false) {
    return paint(style, Ink::kYellow, "Verdict: none, nothing could be judged") + "\n";
  }
  return paint(style, healthy ? Ink::kGreen : Ink::kRed,
               "Verdict: " + (healthy ? "healthy" : fault_words(member(diagnosis, "fault_type")))) +
         "\n";
}

std::string range_text(const std::string& sign, std::int64_t first, std::int64_t last) {
  std::string text = sign + std::to_string(first);
  if (last > first) text += "-" + sign + std::to_string(last);
  return text;
}

// "20-31, 40"; `sign` stands before each number.
void add_ranges(const std::set<std::int64_t>& numbers, const std::string& sign,
                std::vector<std::string>& ranges) {
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    while (++at != numbers.end() && *at - 1 == last) last = *at;
    ranges.push_back(range_text(sign, first, last));
  }
}

// Steps by the engine's numbers; those without one as # and their index.
std::string steps_text(const Json& diagnosis, const TextStyle& style) {
  std::set<std::int64_t> numbers, indices;
  for (const Json& step : member(diagnosis, "abnormal_steps")) {
    if (const auto number = integer(member(step, "number"))) {
      numbers.insert(*number);
    } else if (const auto index = integer(member(step, "step"))) {
      indices.insert(*index);
    }
  }
  if (numbers.empty() && indices.empty()) return "";
  std::vector<std::string> ranges;
  add_ranges(numbers, "", ranges);
  add_ranges(indices, "#", ranges);
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMostRanges); ++i) {
    text += (i > 0 ? ", " : "") + ranges[i];
  }
  if (ranges.size() > kMostRanges)
    text += ", … and " + std::to_string(ranges.size() - kMostRanges) + " more ranges";
  const Json count = numbers.size() + indices.size();
  return line(style, "  abnormal   ", counted(count, "step") + ": " + text);
}

// Up to kMostShown lines, each made by `make`; how many more there are.
template <typename Make>
std::string some(const Json& list, const TextStyle& style, std::string_view first, Make make) {
  if (!list.is_array()) return "";
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), kMostShown); ++i) {
    text += line(style, first, make(list[i]));
  }
  if (list.size() > kMostShown) {
    text += std::string(columns(first), ' ') + "and " + std::to_string(list.size() - kMostShown) +
            " more: --json has all\n";
  }
  return text;
}

std::string request_words(const Json& request) {
  return shown(member(request, "id")) + " (" + shown(member(request, "role")) + ", score " +
         number(member(request, "score")) + ")";
}

std::string operator_words(const Json& op) {
  const std::string name = shown(member(op, "name"));
  std::string text = shown(member(op, "layer")) + " " + name;
  const Json request = member(op, "request"), rank = member(op, "rank");
  const bool says_it = name.find("request=" + shown(request)) != std::string::npos;
  if (request.is_string() && !says_it) text += " of request " + shown(request);
  if (rank.is_number_integer() && rank >= 0) text += " on rank " + shown(rank);
  if (!op.contains("score")) return text;
  return text + " (score " + number(member(op, "score")) + ", " +
         counted(member(op, "steps"), "step") + ")";
}

std::string evidence_words(const Json& one) {
  if (!one.is_object() || !one.contains("drop")) return shown(member(one, "text"));
  return shown(member(one, "text")) + " – without it the log odds fall by " +
         number(member(one, "drop"));
}

std::string ranks_text(const Json& diagnosis, const TextStyle& style) {
  std::string text;
  const Json ranks = member(diagnosis, "culprit_ranks");
  if (!ranks.is_array()) return "";
  for (std::size_t i = 0; i < std::min(ranks.size(), kMostShown); ++i) {
    text += (i > 0 ? ", " : "") + shown(ranks[i]);
  }
  return text.empty() ? "" : line(style, "  rank       ", text);
}

std::string log_line(const Json& log, const TextStyle& style) {
  const Json step = member(member(log, "step"), "number");
  const std::string where = step.is_null() ? "" : "[step " + shown(step) + "] ";
  return "  log        " +
         cut(where + shown(member(log, "text")),
             static_cast<std::size_t>(std::max(style.width - 13, 40))) +
         "\n";
}

std::string percent(const Json& share) {
  return share.is_number() ? number(100 * share.get<double>()) + " %" : "–";
}

std::string model_text(const Json& diagnosis, const TextStyle& style) {
  const Json model = member(diagnosis, "model"), coverage = member(diagnosis, "coverage");
  if (!model.is_object()) return "";
  const std::string digest = shown(member(model, "sha256"));
  std::string text = shown(member(model, "name")) + " (" + digest.substr(0, 12) + ")";
  if (coverage.is_object()) {
    text += "; of the run's tokens " + percent(member(coverage, "tokens_known")) +
            " are known to it, for " + percent(member(coverage, "tokens_with_expectation")) +
            " there is an expectation";
  }
  return line(style, "  model      ", text);
}

}  // namespace

std::string diagnosis_text(const Json& document, const TextStyle& style) {
  if (document["diagnosis_status"] != "current") {
    return line(style, "",
                document["diagnosis_status"] == "stale"
                    ? "Verdict: the diagnosis is older than what it was made from: run teller "
                      "diagnose RUN again."
                    : "Verdict: none yet: teller diagnose RUN gives one.");
  }
  const Json& diagnosis = document["diagnosis"];
  std::string text = headline(diagnosis, style);
  const bool by_rules = member(diagnosis, "method") == "snapshot";
  text +=
      line(style, "  fault      ",
           by_rules ? shown(member(diagnosis, "verdict")) + ": by rules over a snapshot, no model"
                    : "probability " + significant(member(diagnosis, "probability")) +
                          ", at a prior of " + significant(member(diagnosis, "prior")));
  text += steps_text(diagnosis, style);
  text += some(member(diagnosis, "requests"), style, "  request    ", request_words);
  text += some(member(diagnosis, "operators"), style, "  operator   ", operator_words);
  text += ranks_text(diagnosis, style);
  text += some(member(diagnosis, "evidence"), style, "  evidence   ", evidence_words);
  for (const Json& log : document["diagnosis_logs"]) text += log_line(log, style);
  text += model_text(diagnosis, style);
  const Json explanation = member(diagnosis, "explanation");
  if (explanation.is_string()) text += line(style, "  ", shown(explanation));
  return text;
}

}  // namespace teller::report_detail
