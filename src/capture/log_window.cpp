#include "capture/log_window.h"

#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kMaxMatchBytes = 200;

}  // namespace

LogWindow::LogWindow(LogWindow&&) noexcept = default;
LogWindow& LogWindow::operator=(LogWindow&&) noexcept = default;
LogWindow::~LogWindow() = default;

Result<LogWindow> LogWindow::create(const std::vector<std::string>& patterns) {
  LogWindow window;
  for (const std::string& pattern : patterns) {
    auto compiled = std::make_unique<re2::RE2>(pattern, re2::RE2::Quiet);
    if (!compiled->ok()) {
      return Error{ErrorCode::kUsage,
                   "--trigger-log " + pattern + ": not a regular expression: " + compiled->error(),
                   "the syntax is RE2's; put \\ before characters that stand for themselves"};
    }
    window.patterns_.push_back(std::move(compiled));
  }
  return window;
}

void LogWindow::look_for_patterns(std::string_view line) {
  if (patterns_.empty() || !match_.empty()) return;
  const auto json = nlohmann::json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("text") || !json["text"].is_string()) return;
  const auto& text = json["text"].get_ref<const std::string&>();
  const bool found = std::any_of(patterns_.begin(), patterns_.end(), [&](const auto& pattern) {
    return re2::RE2::PartialMatch(text, *pattern);
  });
  if (found) match_ = text.empty() ? "(empty line)" : text.substr(0, kMaxMatchBytes);
}

void LogWindow::add(std::int64_t now_ns, std::string_view lines) {
  if (lines.empty()) return;
  Kept kept{now_ns, 0, std::string(lines)};
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    look_for_patterns(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    ++kept.lines;
  }
  bytes_ += kept.text.size();
  lines_ += kept.lines;
  kept_.push_back(std::move(kept));
}

void LogWindow::forget_before(std::int64_t time_ns) {
  while (!kept_.empty() && kept_.front().time_ns < time_ns) forget_oldest();
}

bool LogWindow::forget_oldest() {
  if (kept_.empty()) return false;
  bytes_ -= kept_.front().text.size();
  lines_ -= kept_.front().lines;
  kept_.pop_front();
  return true;
}

std::string LogWindow::text() const {
  std::string text;
  text.reserve(bytes_);
  for (const Kept& kept : kept_) text += kept.text;
  return text;
}

std::string LogWindow::take_match() {
  return std::exchange(match_, "");
}

}  // namespace teller::capture
