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

// Bytes of a file, with room for others around them.
struct InputPiece {
  std::string bytes;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::string_view text() const { return {bytes.data() + begin, end - begin}; }
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

  // Blanks behind what next_behind() returns.
  static constexpr std::size_t kPadding = 64;

  // The next piece, or an empty one at the end. Valid until the next call.
  Result<std::string_view> next();
  // The next piece behind a copy of `kept`, which may be an end of what was returned last; `kept`
  // alone at the end. kPadding blanks are behind it. Valid until the next call.
  Result<std::string_view> next_behind(std::string_view kept);

  // True after the end was reached, if the compressed data stopped before its own end or is damaged
  // there; the reason says which.
  const std::string& cut_reason() const { return cut_reason_; }
  // True after the end was reached: bytes behind the compressed data that were not read, but for
  // padding with zeros.
  std::uint64_t bytes_behind() const { return bytes_behind_; }
  // "N bytes behind the compressed data were not read".
  std::string behind_words() const;
  // Bytes of the file that were read so far (compressed bytes, where it is).
  std::uint64_t bytes_read() const;
  std::uint64_t file_bytes() const { return file_bytes_; }
  bool is_compressed() const { return compressed_; }
  // XXH3-128 of the file; reads what is left of it first.
  Result<std::string> digest();

 private:
  struct Reader;
  InputStream() = default;
  Error thrown_reading() const;

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  bool compressed_ = false;
  bool at_end_ = false;
  std::string cut_reason_;
  std::uint64_t bytes_behind_ = 0;
  InputPiece current_;
  std::string joined_;  // what did not fit before a piece, and the piece
  std::unique_ptr<Reader> reader_;
};

}  // namespace teller
