// Header and "what stands out" of the report's text, and the order of its sections.
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "base/saturate.h"
#include "report/document.h"
#include "report/terminal.h"
#include "report/text_sections.h"

namespace teller {
namespace report_detail {
namespace {

std::string when(const Json& unix_ns) {
  if (!unix_ns.is_number_integer()) return "";
  const std::time_t seconds = unix_ns.get<std::int64_t>() / 1'000'000'000;
  std::tm parts{};
  std::array<char, 40> text{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "";
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text.data();
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : " ") + shown(item);
  return text;
}

std::string width_wrap(const TextStyle& style, const std::string& text, std::string_view first) {
  return wrap(text, static_cast<std::size_t>(std::max(style.width, 40)), first);
}

std::string pairs(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += (text.empty() ? "" : ", ") + printable(name) + " " + shown(value);
  }
  return text;
}

std::string ended(const Json& run) {
  if (run["signal"].is_number()) return ", killed by signal " + shown(run["signal"]);
  if (run["exit_code"].is_number()) return ", exit status " + shown(run["exit_code"]);
  return "";
}

std::string span_of_steps(const Json& reason, std::int64_t begin) {
  if (!reason["first_step"].is_object()) return "";
  std::string text = "first in step " + shown(reason["first_step"]["number"]) + " (+" +
                     duration(saturating_sub(reason["first_seen_ns"].get<std::int64_t>(), begin)) +
                     ")";
  if (reason["last_step"].is_object() && reason["last_step"] != reason["first_step"]) {
    text += ", last in step " + shown(reason["last_step"]["number"]);
  }
  return text;
}

// Most programs write time and level into the line itself.
std::string level_and_text(const Json& line) {
  constexpr std::size_t kPrefix = 48;  // "2026-01-31 12:00:00,000 some.module.name ERROR"
  const std::string level = shown(line["level"]), text = shown(line["text"]);
  const bool says_it = text.substr(0, kPrefix).find(level) != std::string::npos;
  return says_it ? text : level + " " + text;
}

std::string reason_text(const Json& reason, std::int64_t begin, const TextStyle& style) {
  std::string text = width_wrap(style, shown(member(reason, "text")), "   - ");
  const std::string span = span_of_steps(reason, begin);
  if (!span.empty()) text += width_wrap(style, span, "     when:  ");
  std::size_t lines = 0;
  for (const Json& line : reason["log_lines"]) {
    if (++lines > 3) break;
    text += "     log:   " +
            cut(level_and_text(line), static_cast<std::size_t>(std::max(style.width - 12, 40))) +
            "\n";
  }
  const std::string check = shown(reason["check_next"]);
  if (!check.empty()) text += width_wrap(style, check, "     check: ");
  return text;
}

std::string suspects_text(const Json& document, const TextStyle& style) {
  const Json& stands_out = document["stands_out"];
  const std::int64_t begin = document["run"]["begin_ns"].get<std::int64_t>();
  std::string text;
  int place = 0;
  for (const Json& request : document["suspects"]) {
    text += paint(style, Ink::kRed,
                  " " + std::to_string(++place) + ". request " + shown(request["id"])) +
            paint(style, Ink::kDim, "  score " + number(request["score"])) + "\n";
    for (const Json& reason : request["reasons"]) text += reason_text(reason, begin, style);
  }
  if (!stands_out["run"].empty()) text += paint(style, Ink::kRed, " the run as a whole") + "\n";
  for (const Json& reason : stands_out["run"]) text += reason_text(reason, begin, style);
  bool any = false;
  for (const Json& op : stands_out["operators"]) {
    if (member(op, "suspicious") != true) continue;
    if (!any) text += paint(style, Ink::kRed, " operators") + "\n";
    any = true;
    text += "   - " + shown(member(op, "layer")) + " " + shown(member(op, "family")) + ": " +
            shown(member(op, "kind"));
    if (member(op, "kind") == "slower")
      text += ", x" + number(member(member(op, "effect"), "ratio")) + " of the baseline";
    text += " in " + counted(member(op, "steps"), shown(member(op, "phase")) + " step") + "\n";
  }
  return text;
}

std::string looked_at(const Json& document) {
  const Json& run = document["run"];
  const Json baseline = member(document["stands_out"], "baseline");
  std::string text =
      "looked at " + counted(run["steps"], "step") + ", " + counted(run["requests"], "request") +
      " and " + counted(run["nodes"], "node") +
      ": waiting and preemptions, "
      "each request's operators against its batch-mates, failed and unfinished calls";
  const Json runs = member(baseline, "runs");
  if (!runs.is_array() || runs.empty()) return text + "; without a baseline";
  text += ", operator families against the baseline (";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    text += (i > 0 ? ", " : "") + shown(member(runs[i], "name"));
  }
  return text + ")";
}

}  // namespace

std::string shown(const Json& value) {
  if (value.is_null()) return "–";
  if (value.is_string()) return printable(value.get<std::string>());
  return printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string number(const Json& value) {
  if (!value.is_number()) return "–";
  std::array<char, 40> text{};
  const double x = value.get<double>();
  const int decimals = std::abs(x) < 10 ? 2 : std::abs(x) < 100 ? 1 : 0;
  std::snprintf(text.data(), text.size(), std::abs(x) < 1e9 ? "%.*f" : "%.*e", decimals, x);
  return text.data();
}

std::string counted(const Json& count, const std::string& noun) {
  return shown(count) + " " + noun + (count == 1 ? "" : "s");
}

Json without_level(const Json& line) {
  const Json text = member(line, "text"), level = member(line, "level");
  if (!text.is_string() || !level.is_string()) return text;
  const auto& all = text.get_ref<const std::string&>();
  const auto& word = level.get_ref<const std::string&>();
  const std::size_t end = word.size();
  if (word.empty() || all.compare(0, end, word) != 0 || end >= all.size()) return text;
  if (std::string_view(" :\t").find(all[end]) == std::string_view::npos) return text;
  const std::size_t begin = all.find_first_not_of(" :\t", end);
  return begin == std::string::npos ? text : Json(all.substr(begin));
}

std::string header_text(const Json& document, const TextStyle& style) {
  const Json& run = document["run"];
  std::string text = paint(style, Ink::kBold, "Run " + shown(run["path"])) + "\n";
  if (run["program"].is_array()) {
    text += width_wrap(style, joined(run["program"]) + ended(run), "  program   ");
  }
  std::string time = when(run["begin_unix_ns"]);
  time += (time.empty() ? "" : ", ") + duration(run["duration_ns"].get<std::int64_t>());
  if (run["host"].is_string()) time += " on " + shown(run["host"]);
  text += width_wrap(style, time, "  when      ");
  text += width_wrap(style,
                     counted(run["steps"], "step") + ", " + counted(run["requests"], "request") +
                         ", " + counted(run["log_lines"], "log line") +
                         ", nodes by layer: " + pairs(run["layers"]),
                     "  holds     ");
  std::string losses = pairs(run["losses"]);
  const auto outside = run["nodes_outside_steps"].get<double>(), nodes = run["nodes"].get<double>();
  if (nodes > 0 && outside > 0.2 * nodes) {
    losses += (losses.empty() ? "" : ", ") + number(100 * outside / nodes) +
              " % of the nodes lie outside any step";
  }
  if (run["state"] != "sealed")
    losses += (losses.empty() ? "" : ", ") + ("state " + shown(run["state"]));
  text +=
      width_wrap(style, losses.empty() ? "nothing known to be missing" : losses, "  coverage  ");
  return text;
}

std::string stands_out_text(const Json& document, const TextStyle& style) {
  if (document["findings"] != "current") {
    const bool stale = document["findings"] == "stale";
    return width_wrap(style,
                      std::string(stale ? "The findings are older than the chains"
                                        : "What stands out has not been looked for yet") +
                          ": run teller slice RUN [--baseline HEALTHY], then this again.",
                      "");
  }
  const Json& stands_out = document["stands_out"];
  const bool suspicious = member(stands_out["verdict"], "suspicious") == true;
  const bool judged = member(stands_out["verdict"], "judged") != false;
  std::string text = suspicious ? paint(style, Ink::kBold, "What stands out") + "\n"
                     : judged   ? paint(style, Ink::kGreen, "Nothing stands out") + "\n"
                                : paint(style, Ink::kYellow, "Nothing could be judged") + "\n";
  text += suspects_text(document, style);
  text += width_wrap(style, looked_at(document), "   ");
  for (const Json& note : stands_out["notes"]) text += width_wrap(style, shown(note), "   note: ");
  return text;
}

std::string surroundings_text(const Json& document, const TextStyle& style) {
  const Json& surroundings = document["surroundings"];
  if (!surroundings.is_object() || surroundings["notes"].empty()) return "";
  std::string text = paint(style, Ink::kBold, "Around the program") + "\n";
  for (const Json& note : surroundings["notes"]) {
    text += width_wrap(style, shown(note["text"]), "   - ");
    text += width_wrap(style, shown(note["check_next"]), "     check: ");
  }
  return text;
}

}  // namespace report_detail

std::string report_text(const nlohmann::ordered_json& document, const TextStyle& style) {
  using namespace report_detail;  // NOLINT: this file's own parts
  std::string text = header_text(document, style) + "\n" + diagnosis_text(document, style) + "\n" +
                     stands_out_text(document, style);
  for (const std::string& section :
       {surroundings_text(document, style), requests_text(document, style),
        request_steps_text(document, style), chain_text(document, style),
        deviations_text(document, style), logs_text(document, style)}) {
    if (!section.empty()) text += "\n" + section;
  }
  return text;
}

}  // namespace teller
