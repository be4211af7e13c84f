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

std::vector<std::string> redact_arguments(const std::vector<std::string>& arguments) {
  RedactCounts counts;
  return rules().arguments(arguments, counts);
}

}  // namespace teller::snapshot_detail
