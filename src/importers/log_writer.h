// Writes logs.jsonl line by line.
#pragma once

#include <cstdint>
#include <string>

#include "importers/source_import.h"
#include "teller/result.h"

namespace teller {

// One line of logs.jsonl, with its end.
std::string log_line_json(const LogLine& line);

class LogWriter {
 public:
  // The file is made with its first line.
  explicit LogWriter(std::string path) : path_(std::move(path)) {}
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;
  ~LogWriter();

  Status add(const LogLine& line);
  // Writes what is left.
  Status flush();
  std::uint64_t lines() const { return lines_; }

  struct Mark {
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;
  };
  Mark mark() const { return {written_ + buffer_.size(), lines_}; }
  // Takes back what was added after `mark`.
  Status take_back(const Mark& mark);

 private:
  std::string path_;
  int fd_ = -1;
  std::string buffer_;
  std::uint64_t written_ = 0;
  std::uint64_t lines_ = 0;
};

}  // namespace teller
