#include "importers/log_lines.h"

#include <algorithm>

#include "base/utf8.h"
#include "importers/input_stream.h"
#include "logs/line.h"

namespace teller {

namespace {

constexpr std::size_t kMostLine = 1u << 20;

Error of_log(Error error) {
  constexpr std::string_view kTrace = "reading trace";
  if (error.message.starts_with(kTrace)) error.message.replace(0, kTrace.size(), "reading log");
  return error;
}

}  // namespace

void set_log_text(std::string_view text, LogLine& line) {
  std::string& clean = line.text;
  clean.clear();
  append_valid_utf8(text, clean);
  std::replace_if(
      clean.begin(), clean.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  while (!clean.empty() && clean.back() == ' ') clean.pop_back();
  line.raw = clean.find("\xEF\xBF\xBD") != std::string::npos &&
             text.find("\xEF\xBF\xBD") == std::string_view::npos;
}

Status each_log_line(std::string_view text, const LogLine& like, const UseLogLine& use) {
  while (!text.empty()) {
    const auto end = text.find('\n');
    LogLine line = like;
    set_log_text(text.substr(0, end), line);
    if (!line.text.empty()) TELLER_CHECK_OK(use(line));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

namespace {

class LogReader {
 public:
  LogReader(const std::string& path, InputStream& input, const UseLogLine& use,
            const LogLimits& limits)
      : path_(path), input_(input), use_(use) {
    const std::uint64_t size = input.file_bytes();
    bytes_ = std::min(limits.bytes, std::max(limits.always_bytes, size * limits.times));
    lines_ = std::min(limits.lines, std::max(limits.always_lines, size * limits.lines_per_byte));
  }

  Status read(const LogLine& like) {
    const auto use = [this](LogLine& line) -> Status {
      if (lines_-- == 0) return too_much("has more lines");
      return use_(line);
    };
    std::string open;  // the line that no piece has ended yet
    for (bool last = false; !last;) {
      TELLER_TRY(const std::string_view piece, input_.next());
      if (piece.size() > bytes_) return too_much("inflates to more");
      bytes_ -= piece.size();
      open += piece;
      last = piece.empty();
      // A line without an end is cut into lines of this size.
      const std::size_t end = open.rfind('\n');
      const bool cut = end == std::string::npos && open.size() > kMostLine;
      const std::size_t size = cut || last ? open.size() : end + 1;  // npos + 1: nothing
      TELLER_CHECK_OK(each_log_line(std::string_view(open).substr(0, size), like, use));
      open.erase(0, size);
    }
    return {};
  }

 private:
  Error too_much(const std::string& what) const {
    return {ErrorCode::kUnsupported,
            "reading log " + path_ + ": it " + what + " than are read of a log of this size",
            "give the part of it that matters"};
  }

  const std::string& path_;
  InputStream& input_;
  const UseLogLine& use_;
  std::uint64_t bytes_ = 0;  // that may still come
  std::uint64_t lines_ = 0;
};

}  // namespace

Result<LogFileRead> read_log_file(const std::string& path, const std::string& name,
                                  const std::atomic<bool>* stop, const UseLogLine& use,
                                  const LogLimits& limits) {
  auto input = InputStream::open(path, {.stop = stop});
  if (!input) return of_log(input.error());
  LogLine like;
  like.stream = name;
  if (Status done = LogReader(path, **input, use, limits).read(like); !done) {
    return of_log(done.error());
  }
  if (const std::string& reason = (*input)->cut_reason(); !reason.empty()) {
    return Error{ErrorCode::kCorrupt, "reading log " + path + ": " + reason,
                 "inflate it as far as it goes, and give that"};
  }
  TELLER_TRY(std::string digest, (*input)->digest());
  return LogFileRead{std::move(digest),
                     (*input)->bytes_behind() > 0 ? (*input)->behind_words() : ""};
}

bool looks_like_log(std::string_view head) {
  constexpr std::size_t kMostLines = 200;
  if (head.find('\0') != std::string_view::npos) return false;
  std::size_t lines = 0;
  std::size_t known = 0;
  while (!head.empty() && lines < kMostLines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    head.remove_prefix(std::min(line.size() + 1, head.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    ++lines;
    if (parse_line(line).format != LogFormat::kNone) ++known;
  }
  // Tracebacks and what a program prints itself have no format.
  return known > 0 && known * 5 >= lines;
}

}  // namespace teller
