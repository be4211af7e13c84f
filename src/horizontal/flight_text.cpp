// The diagnosis of flight recorder dumps as text.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "horizontal/flight.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownEvidence = 12;
constexpr std::size_t kShownFrames = 6;
constexpr std::size_t kShownRanks = 64;

std::string safe(const Json& json) {
  return printable(json.is_string() ? json.get<std::string>() : json.dump());
}

std::string line(const char* title, const std::string& text) {
  return std::string("  ") + title + std::string(10 - std::char_traits<char>::length(title), ' ') +
         text + "\n";
}

// `numbers` are the first of `total`.
std::string list(const Json& numbers, const Json& total) {
  std::string text;
  std::size_t shown = 0;
  for (const Json& one : numbers) {
    if (shown == kShownRanks) break;
    text += (text.empty() ? "" : ", ") + one.dump();
    ++shown;
  }
  const auto all = total.get<std::size_t>();
  return all > shown ? text + " and " + std::to_string(all - shown) + " more" : text;
}

std::string coverage_text(const Json& coverage) {
  std::string text;
  if (!coverage["ranks_without_dump"].empty()) {
    text += line("no dump", "of rank " + list(coverage["ranks_without_dump"],
                                              coverage["ranks_without_dump_total"]));
  }
  if (coverage["dumps_of_unknown_rank"] != 0) {
    text += line("unknown", coverage["dumps_of_unknown_rank"].dump() +
                                " dumps do not say which rank wrote them");
  }
  if (coverage["ranks_absent_unnamed"] != 0) {
    text += line("no dump", "of " + coverage["ranks_absent_unnamed"].dump() +
                                " ranks, of which ones is not known");
  }
  if (coverage["entries_contradictory"] != 0) {
    text +=
        line("doubtful", coverage["entries_contradictory"].dump() +
                             " entries contradict themselves or have fields that can't be read");
  }
  if (coverage["dumps_outdated"] != 0) {
    text += line("outdated", coverage["dumps_outdated"].dump() +
                                 " dumps were written before their peers went on");
  }
  if (coverage["dumps_of_unknown_version"] != 0) {
    text += line("version", coverage["dumps_of_unknown_version"].dump() +
                                " dumps are of a version that is not known");
  }
  if (coverage["entries_unread"] != 0) {
    text += line("unread", coverage["entries_unread"].dump() + " entries can't be read");
  }
  if (coverage["ranks_from_file_name"] != 0) {
    text += line("note", coverage["ranks_from_file_name"].dump() +
                             " ranks are known by the names of their files alone");
  }
  return text;
}

std::string evidence_text(const Json& evidence) {
  std::string text;
  std::size_t shown = 0;
  for (const Json& one : evidence) {
    if (shown++ == kShownEvidence) {
      text += line("", "… (" + std::to_string(evidence.size() - kShownEvidence) + " more)");
      break;
    }
    text += line("evidence", safe(one["text"]));
    if (one["role"] != "culprit" || one["entry"].is_null()) continue;
    const Json& frames = one["entry"]["frames"];
    for (std::size_t i = 0; i < std::min(frames.size(), kShownFrames); ++i) {
      text += line("", "  " + safe(frames[i]));
    }
  }
  return text;
}

}  // namespace

std::string flight_diagnosis_text(const Json& diagnosis) {
  const Json& coverage = diagnosis["coverage"];
  std::string text = "verdict: ";
  if (diagnosis["abnormal"] == true) text += safe(diagnosis["fault_type"]) + ", ";
  text += safe(diagnosis["verdict"]) + "\n";
  text += line("method", "rules over " + coverage["dumps"].dump() + " flight recorder dumps with " +
                             coverage["entries"].dump() + " operations; no model");
  if (!diagnosis["culprit_ranks"].empty()) {
    text += line("suspects",
                 "rank " + list(diagnosis["culprit_ranks"], diagnosis["culprit_ranks_total"]));
  }
  if (const Json& link = diagnosis["culprit_link"]; !link.is_null()) {
    text += line("link", "rank " + link["from"].dump() + " to rank " + link["to"].dump() + ": " +
                             safe(link["why"]));
  }
  text += evidence_text(diagnosis["evidence"]);
  text += coverage_text(coverage);
  text += safe(diagnosis["explanation"]) + "\n";
  if (const std::string next = safe(diagnosis["check_next"]); !next.empty()) text += next + "\n";
  return text;
}

}  // namespace teller
