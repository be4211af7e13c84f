// Tables, tree and log lines of the report's text.
#include "report/text_sections.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "base/saturate.h"
#include "report/document.h"
#include "report/terminal.h"

namespace teller::report_detail {
namespace {

constexpr std::size_t kMostRows = 40;

std::size_t width_of(const TextStyle& style) {
  return static_cast<std::size_t>(std::max(style.width, 40));
}

std::string time_or_dash(const Json& ns) {
  return ns.is_number_integer() ? duration(ns.get<std::int64_t>()) : "–";
}

std::string title(const TextStyle& style, const std::string& text) {
  return paint(style, Ink::kBold, text) + "\n";
}

// A table: the first column is as wide as its content (within reason) and flush left. Where the
// terminal is too narrow, columns are left out in the order of `expendable`.
class Table {
 public:
  explicit Table(std::vector<std::string> head, std::vector<std::size_t> expendable = {})
      : expendable_(std::move(expendable)) {
    rows_.push_back(std::move(head));
  }
  void add(std::vector<std::string> cells, Ink ink = Ink::kPlain) {
    rows_.push_back(std::move(cells));
    inks_.push_back(ink);
  }
  std::string text(const TextStyle& style) const {
    std::vector<std::size_t> widths = column_widths();
    for (const std::size_t column : expendable_) {
      if (needed(widths) + kNarrowest <= width_of(style)) break;
      widths[column] = 0;
    }
    const std::size_t others = needed(widths);
    const std::size_t room = width_of(style) > others ? width_of(style) - others : 0;
    widths[0] = std::min(widths[0], std::max(room, kNarrowest));
    std::string out;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      std::string line = "  " + left(rows_[r][0], widths[0]);
      for (std::size_t i = 1; i < rows_[r].size(); ++i) {
        if (widths[i] > 0) line += "  " + right(rows_[r][i], widths[i]);
      }
      out += paint(style, r == 0 ? Ink::kDim : inks_[r - 1], line) + "\n";
    }
    return out;
  }

 private:
  static constexpr std::size_t kNarrowest = 12;  // of the first column

  std::vector<std::size_t> column_widths() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    }
    return widths;
  }
  // Columns that all but the first take.
  static std::size_t needed(const std::vector<std::size_t>& widths) {
    std::size_t sum = 2;
    for (std::size_t i = 1; i < widths.size(); ++i) sum += widths[i] > 0 ? widths[i] + 2 : 0;
    return sum;
  }

  std::vector<std::vector<std::string>> rows_;
  std::vector<Ink> inks_;  // of rows_[1] and after
  std::vector<std::size_t> expendable_;
};

// The first `most` elements of a list; findings.json may hold anything.
std::vector<Json> first_of(const Json& list, std::size_t most) {
  std::vector<Json> taken;
  for (const Json& item : list) {
    if (taken.size() == most) break;
    taken.push_back(item);
  }
  return taken;
}

std::string percent(const Json& share) {
  if (!share.is_number()) return "–";
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.1f%%", 100 * share.get<double>());
  return text.data();
}

// Whether the chain has this number, and it is not smaller.
bool at_least(const Json& chain, const char* key, std::int64_t least) {
  const Json value = member(chain, key);
  return value.is_number_integer() && value.get<std::int64_t>() >= least;
}

std::string tree_line(const Json& line, const TextStyle& style) {
  const bool marked = line["deviating"].get<std::size_t>() > 0;
  const std::size_t room = width_of(style) - std::min<std::size_t>(width_of(style) - 20, 22);
  const std::size_t indent = std::min(2 * line["depth"].get<std::size_t>(), room / 2);
  std::string label(indent, ' ');
  // What kernels do is seldom plain from their names.
  const Json role = member(line, "role");
  const bool told = line["layer"] == "K" && role.is_string();
  label += "[" + shown(line["layer"]) + (told ? " " + shown(role) : std::string()) + "] " +
           shown(line["count"] == 1 ? line["name"] : line["family"]);
  if (line["count"] != 1) label += " ×" + shown(line["count"]);
  if (line["failed"] == true) label += " FAILED";
  if (line["open"] == true) label += " NOT ENDED";
  const bool row = line["row"] == true;
  const std::string numbers =
      row ? "" : right(time_or_dash(line["duration_ns"]), 9) + right(percent(line["share"]), 8);
  std::string skipped;
  if (line["levels_left_out"] > 0) {
    skipped = std::string(3 + indent, ' ') + "… " + counted(line["levels_left_out"], "level") +
              " left out\n";
  }
  const std::string text = (marked ? " ▲ " : "   ") + left(label, room) + numbers;
  return skipped +
         paint(style, marked ? Ink::kYellow : Ink::kPlain,
               text.substr(0, text.find_last_not_of(' ') + 1)) +
         "\n";
}

}  // namespace

std::string requests_text(const Json& document, const TextStyle& style) {
  const Json& requests = document["requests"];
  if (requests.empty()) return "";
  const std::int64_t begin = document["run"]["begin_ns"].get<std::int64_t>();
  Table table({"request", "arrival", "queued", "first token", "latency", "steps", "prefill",
               "decode", "waited", "preempted"},
              {6, 1, 7, 2});
  for (std::size_t i = 0; i < std::min(requests.size(), kMostRows); ++i) {
    const Json& r = requests[i];
    const bool suspicious = r["suspicious"] == true;
    const std::int64_t arrival = r["arrival_ns"].get<std::int64_t>();
    table.add({(suspicious ? "▲ " : "  ") + shown(r["id"]),
               arrival < 0 ? "–" : "+" + duration(saturating_sub(arrival, begin)),
               time_or_dash(r["queue_ns"]), time_or_dash(r["ttft_ns"]),
               time_or_dash(r["latency_ns"]), shown(r["steps"]), shown(r["prefill_tokens"]),
               shown(r["decode_tokens"]), shown(r["waiting_steps"]), shown(r["preemptions"])},
              suspicious ? Ink::kRed : Ink::kPlain);
  }
  std::string text =
      title(style, "Requests (suspicious first, then by latency)") + table.text(style);
  text += wrap("queued, first token, latency: from arrival; prefill, decode: tokens; waited: steps",
               width_of(style), "  ");
  if (requests.size() > kMostRows) {
    text += "  and " + std::to_string(requests.size() - kMostRows) + " more: --json has all\n";
  }
  return text;
}

std::string request_steps_text(const Json& document, const TextStyle& style) {
  const Json& steps = document["request_steps"];
  // A request without a row is in no step; the chain's section says so.
  if (!steps.is_array() || !document["chain"].is_object()) return "";
  Table table({"step", "phase", "tokens", "computed", "since served", "step took", "step's tokens",
               "kv free"});
  for (const Json& step : steps) {
    const bool odd = step["phase"] == "waiting" || step["phase"] == "preempted";
    table.add({shown(step["number"]), shown(step["phase"]), shown(step["scheduled"]),
               shown(step["computed"]), shown(step["since_served"]), time_or_dash(step["step_ns"]),
               shown(step["tokens"]) + "/" + shown(step["token_limit"]), shown(step["kv_free"])},
              odd ? Ink::kYellow : Ink::kPlain);
  }
  return title(style, "Steps of request " + shown(document["chain"]["request"])) +
         table.text(style);
}

std::string chain_text(const Json& document, const TextStyle& style) {
  const Json& chain = document["chain"];
  if (!chain.is_object()) return "No step was found: see teller stats RUN.\n";
  std::string head =
      chain["step"].is_null() ? "Outside any step" : "Chain of step " + shown(chain["number"]);
  if (chain["request"].is_string()) head += " for request " + shown(chain["request"]);
  std::string text = title(style, head);
  std::string facts = duration(chain["duration_ns"].get<std::int64_t>());
  if (at_least(chain, "tokens", 0)) facts += ", " + shown(chain["tokens"]) + " tokens";
  if (at_least(chain, "kv_free", 0)) {
    facts += ", " + shown(chain["kv_free"]) + "/" + shown(chain["kv_total"]) + " KV blocks free";
  }
  if (at_least(chain, "device_busy_ns", 1))
    facts += ", device busy " + time_or_dash(chain["device_busy_ns"]);
  facts += "; " + shown(chain["why"]);
  text += wrap(facts, width_of(style), "  ");
  const Json& stands_out = document["stands_out"];
  const bool marks =
      stands_out.is_object() && member(member(stands_out, "verdict"), "suspicious") == true;
  for (Json line : chain["tree"]) {
    // In a run in which nothing stands out, a slow instance is no news.
    if (!marks) line["deviating"] = std::size_t{0};
    text += tree_line(line, style);
  }
  if (chain["lines_left_out"] > 0) {
    text += "   … " + shown(chain["lines_left_out"]) + " smaller lines left out: --lines N\n";
  }
  if (chain["nodes_of_other_requests"] > 0) {
    text += "   (" + shown(chain["nodes_of_other_requests"]) +
            " nodes belong to other requests and are not part of this chain)\n";
  }
  return text + wrap("lowest layer there is: " + shown(chain["lowest_layer"]) +
                         "; ×N stands for N siblings of one family, their times added; %: of the "
                         "step's host time, which device work may outlast" +
                         (marks ? "; ▲ holds an instance that took longer than expected" : ""),
                     width_of(style), "   ");
}

std::string deviations_text(const Json& document, const TextStyle& style) {
  if (!document["stands_out"].is_object()) return "";
  const Json& operators = document["stands_out"]["operators"];
  std::string text;
  if (!operators.empty()) {
    Table table({"operator", "phase", "what", "ratio", "vs. all", "z", "steps", "of time"});
    for (const Json& op : first_of(operators, 15)) {
      const Json effect = member(op, "effect");
      const bool slower = member(op, "kind") == "slower";
      table.add({(member(op, "suspicious") == true ? "▲ " : "  ") + shown(member(op, "layer")) +
                     " " + shown(member(op, "family")),
                 shown(member(op, "phase")), shown(member(op, "kind")),
                 slower ? "x" + number(member(effect, "ratio")) : "–",
                 slower ? "x" + number(member(effect, "relative_ratio")) : "–",
                 slower ? number(member(op, "z")) : "–", shown(member(op, "steps")),
                 percent(member(effect, "step_share"))});
    }
    text += title(style, "Operators that differ from the baseline") + table.text(style);
  }
  const Json& instances = document["stands_out"]["instances"];
  if (instances.empty()) return text;
  Table table({"instance", "step", "ratio", "z", "too long by"});
  for (const Json& one : first_of(instances, 8)) {
    table.add({shown(member(one, "layer")) + " " + shown(member(one, "name")),
               shown(member(one, "number")), "x" + number(member(one, "ratio")),
               number(member(one, "z")), time_or_dash(member(one, "excess_ns"))});
  }
  if (!text.empty()) text += "\n";
  return text + title(style, "Single instances that took longest beyond what is expected of them") +
         table.text(style) +
         wrap(
             "One slow instance is as often the machine's doing as the program's: these are no "
             "findings by themselves.",
             width_of(style), "  ");
}

std::string logs_text(const Json& document, const TextStyle& style) {
  const Json& logs = document["logs"];
  if (logs["lines"].empty()) return "";
  const std::int64_t begin = document["run"]["begin_ns"].get<std::int64_t>();
  std::string text = title(style, "Log lines beside it");
  for (const Json& line : logs["lines"]) {
    const std::int64_t time = line["time_ns"].get<std::int64_t>();
    const std::string level = shown(line["level"]);
    const std::string at = time < 0 ? "–" : "+" + duration(saturating_sub(time, begin));
    const std::string step =
        line["step"].is_object() ? "step " + shown(line["step"]["number"]) : "no step";
    const std::string text_line = "  " + right(at, 10) + "  " + left(step, 10) + "  " +
                                  left(level.empty() ? "–" : level, 8) + "  " +
                                  shown(without_level(line));
    const Severity severity = severity_of(level);
    text += paint(style,
                  severity == Severity::kError     ? Ink::kRed
                  : severity == Severity::kWarning ? Ink::kYellow
                                                   : Ink::kPlain,
                  cut(text_line, width_of(style))) +
            "\n";
  }
  if (logs["left_out"] > 0) {
    text += "  and " + shown(logs["left_out"]) + " more: --log-lines N\n";
  }
  return text;
}

}  // namespace teller::report_detail
