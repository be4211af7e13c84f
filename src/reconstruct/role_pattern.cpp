#include "reconstruct/role_pattern.h"

#include <algorithm>

namespace teller {

namespace {

std::string small(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// The set's index of the three characters at `at`.
std::uint16_t run_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[at + i]));
  };
  return static_cast<std::uint16_t>((byte(0) * 961 + byte(1) * 31 + byte(2)) % 1024);
}

constexpr std::size_t kRun = 3;

}  // namespace

MatchedName::MatchedName(std::string_view name) : text_(small(name.substr(0, kMaxMatchedName))) {
  for (std::size_t at = 0; at + kRun <= text_.size(); ++at) runs_.set(run_at(text_, at));
}

RolePattern::RolePattern(std::string_view text)
    : from_begin_(text.front() != '*'), to_end_(text.back() != '*') {
  const std::string pattern = small(text);
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t end = std::min(pattern.find('*', at), pattern.size());
    if (end > at) parts_.push_back(pattern.substr(at, end - at));
    at = end + 1;
  }
  if (parts_.empty()) return;
  const std::string& longest = *std::max_element(
      parts_.begin(), parts_.end(),
      [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  if (longest.size() < kRun) return;
  const std::size_t last = longest.size() - kRun;
  for (const std::size_t at : {std::size_t{0}, last / 2, last}) {
    runs_[run_count_++] = run_at(longest, at);
  }
}

bool RolePattern::matches(const MatchedName& name) const {
  for (std::size_t i = 0; i < run_count_; ++i) {
    if (!name.may_contain(runs_[i])) return false;
  }
  std::string_view rest = name.text();
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::string& part = parts_[i];
    const bool last = i + 1 == parts_.size();
    if (i == 0 && from_begin_) {
      if (!rest.starts_with(part)) return false;
      rest.remove_prefix(part.size());
      if (last && to_end_) return rest.empty();
      continue;
    }
    if (last && to_end_) return rest.ends_with(part);
    // The first place is as good as any: what follows a "*" may begin anywhere behind it.
    const std::size_t found = rest.find(part);
    if (found == std::string_view::npos) return false;
    rest.remove_prefix(found + part.size());
  }
  return true;
}

}  // namespace teller
