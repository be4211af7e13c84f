// The bytes of an input file, inflated if it is gzip or zstd, read ahead by a thread of its own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

struct InputOptions {
  std::size_t piece_bytes = 1u << 20;
  const std::atomic<bool>* stop = nullptr;  // set: next() fails with kInterrupted; may be null
};

// Reads one regular file front to back in pieces; memory is bounded. next() is for
// one thread.
class InputStream {
 public:
  // Opens `path` read-only. Folders, missing and unreadable files give one clear line.
  static Result<std::unique_ptr<InputStream>> open(const std::string& path,
                                                   InputOptions options = {});
  InputStream(const InputStream&) = delete;
  InputStream& operator=(const InputStream&) = delete;
  ~InputStream();

  // The next piece, or an empty one at the end. Valid until the next call.
  Result<std::string_view> next();

  // True after the end was reached, if the compressed data stopped before its own end or is damaged
  // there; the reason says which.
  const std::string& cut_reason() const { return cut_reason_; }
  // Bytes of the file that were read so far (compressed bytes, where it is).
  std::uint64_t bytes_read() const;
  std::uint64_t file_bytes() const { return file_bytes_; }
  bool is_compressed() const { return compressed_; }
  // SHA-256 of the file; reads what is left of it first.
  Result<std::string> sha256();

 private:
  struct Reader;
  InputStream() = default;

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  bool compressed_ = false;
  bool at_end_ = false;
  std::string cut_reason_;
  std::string current_;
  std::unique_ptr<Reader> reader_;
};

}  // namespace teller
