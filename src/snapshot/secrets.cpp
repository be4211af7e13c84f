#include "snapshot/secrets.h"

#include <utility>

#include "redact/redact.h"

namespace teller::snapshot_detail {

namespace {

const Redactor& rules() {
  static const Redactor made = [] {
    auto rules = Redactor::create({});  // fails on patterns of the user's only
    return std::move(*rules);
  }();
  return made;
}

}  // namespace

std::string redact(std::string_view text) {
  RedactCounts counts;
  return rules().text(text, counts);
}

std::vector<std::string> redact_lines(const std::vector<std::string_view>& lines) {
  LineRedactor redactor(&rules());
  std::vector<std::string> kept;
  kept.reserve(lines.size());
  for (const std::string_view line : lines) {
    std::string text;
    if (line.empty()) redactor.end_line();
    std::string_view rest = line;
    while (!rest.empty()) rest.remove_prefix(redactor.take(rest, rest.size(), true, text));
    kept.push_back(std::move(text));
  }
  return kept;
}

std::vector<std::string> redact_arguments(const std::vector<std::string>& arguments) {
  RedactCounts counts;
  return rules().arguments(arguments, counts);
}

}  // namespace teller::snapshot_detail
