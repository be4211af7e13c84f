#include "importers/log_writer.h"

#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/file.h"

namespace teller {

namespace {

constexpr std::size_t kBufferBytes = 1u << 20;

}  // namespace

std::string log_line_json(const LogLine& line) {
  nlohmann::ordered_json json;
  json["t"] = line.t_ns ? nlohmann::ordered_json(*line.t_ns) : nlohmann::ordered_json();
  json["stream"] = line.stream;
  if (!line.source.empty()) json["source"] = line.source;
  if (line.pid) json["pid"] = *line.pid;
  json["text"] = line.text;
  if (!line.level.empty()) json["level"] = line.level;
  if (!line.placed_by.empty()) json["t_from"] = line.placed_by;
  if (line.raw) json["raw"] = 1;
  if (line.cont) json["cont"] = 1;
  return meta_text(json) + '\n';
}

LogWriter::~LogWriter() {
  if (fd_ >= 0) close(fd_);
}

Status LogWriter::add(const LogLine& line) {
  buffer_ += log_line_json(line);
  ++lines_;
  return buffer_.size() < kBufferBytes ? Status() : flush();
}

Status LogWriter::flush() {
  if (fd_ < 0) {
    if (buffer_.empty()) return {};
    TELLER_TRY(fd_, create_fresh(path_));
  }
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t done = write(fd_, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path_, errno);
    rest.remove_prefix(static_cast<std::size_t>(done));
    written_ += static_cast<std::uint64_t>(done);
  }
  buffer_.clear();
  return {};
}

Status LogWriter::take_back(const Mark& mark) {
  if (mark.bytes >= written_) {
    buffer_.resize(mark.bytes - written_);
  } else {
    buffer_.clear();
    const auto size = static_cast<off_t>(mark.bytes);
    if (ftruncate(fd_, size) != 0 || lseek(fd_, size, SEEK_SET) != size) {
      return errno_error("writing " + path_, errno);
    }
    written_ = mark.bytes;
  }
  lines_ = mark.lines;
  return {};
}

}  // namespace teller
