// The newest log lines of a run, as lines of logs.jsonl, and which of them match a trigger's
// pattern.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace re2 {
class RE2;
}

namespace teller::capture {

// Not thread-safe.
class LogWindow {
 public:
  // Fails if a pattern is no regular expression (RE2 syntax). Matched in time linear in the line.
  static Result<LogWindow> create(const std::vector<std::string>& patterns);
  LogWindow(LogWindow&&) noexcept;
  LogWindow& operator=(LogWindow&&) noexcept;
  ~LogWindow();

  // Whole lines of logs.jsonl that were written at `now_ns` (CLOCK_MONOTONIC).
  void add(std::int64_t now_ns, std::string_view lines);
  void forget_before(std::int64_t time_ns);
  // Forgets the oldest. False if there is none.
  bool forget_oldest();
  std::int64_t oldest_ns() const { return kept_.empty() ? INT64_MAX : kept_.front().time_ns; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t lines() const { return lines_; }
  // All that is kept, oldest first.
  std::string text() const;
  // The first line that matched since the last call; "" if none did.
  std::string take_match();

 private:
  struct Kept {
    std::int64_t time_ns = 0;
    std::uint64_t lines = 0;
    std::string text;
  };
  LogWindow() = default;
  void look_for_patterns(std::string_view line);

  std::vector<std::unique_ptr<re2::RE2>> patterns_;
  std::deque<Kept> kept_;
  std::uint64_t bytes_ = 0;
  std::uint64_t lines_ = 0;
  std::string match_;
};

}  // namespace teller::capture
