#include "importers/source_kind.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/file.h"
#include "importers/content_signs.h"
#include "importers/flight_dump.h"
#include "importers/log_lines.h"

namespace teller {

namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
// Enough of a log to see how its lines are written.
constexpr std::size_t kLogHead = 64u << 10;

// One clear line for what is no file with something in it.
Status check_regular(const std::string& path) {
  const std::string action = "importing " + path;
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_error(action, errno);
  struct stat info {};
  const int number = fstat(fd, &info) == 0 ? 0 : errno;
  close(fd);
  if (number != 0) return errno_error(action, number);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kUsage, action + ": it is not a regular file",
                 "copy the trace to a file"};
  }
  if (info.st_size == 0) return Error{ErrorCode::kCorrupt, action + ": it is empty", ""};
  return {};
}

}  // namespace

Result<SourceKind> kind_of_named(const std::string& path, const std::atomic<bool>* stop) {
  TELLER_CHECK_OK(check_regular(path));
  TELLER_TRY(const std::string head, inflated_head(path, stop));
  if (head.starts_with(kSqliteMagic)) return SourceKind::kNsys;
  // A file of less than the mark's length that begins like it is a cut SQLite file.
  if (head.starts_with("SQLite format")) {
    return Error{ErrorCode::kCorrupt, "importing " + path + ": its SQLite header is cut off", ""};
  }
  if (looks_like_flight_dump(head)) return SourceKind::kFlight;
  switch (json_dialect(head)) {
    case JsonDialect::kOtlp:
      return SourceKind::kOtlp;
    case JsonDialect::kExecutionTrace:
      return SourceKind::kExecutionTrace;
    case JsonDialect::kKineto:
      return SourceKind::kKineto;
    case JsonDialect::kNone:
      break;
  }
  return looks_like_log(std::string_view(head).substr(0, kLogHead)) ? SourceKind::kLog
                                                                    : SourceKind::kKineto;
}

Result<FoundFile> what_was_found(const std::string& path, const std::atomic<bool>* stop) {
  using Kind = FoundFile::Kind;
  const FoundFile other{Kind::kOther, "it is no trace and no log"};
  TELLER_TRY(const std::string head, inflated_head(path, stop));
  // Other programs write pickles too: a dump's name their groups or entries.
  if (looks_like_flight_dump(head)) {
    const bool dump =
        head.find("pg_config") != std::string::npos || head.find("entries") != std::string::npos;
    return dump ? FoundFile{Kind::kTrace} : other;
  }
  if (head.starts_with(kSqliteMagic) || json_dialect(head) != JsonDialect::kNone) {
    return FoundFile{Kind::kTrace};
  }
  const bool log = looks_like_log(std::string_view(head).substr(0, kLogHead));
  return log ? FoundFile{Kind::kLog} : other;
}

}  // namespace teller
