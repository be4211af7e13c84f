// Gives libarchive the inflated bytes of a file, and knows what it gave.
#pragma once

#include <archive.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "importers/input_stream.h"
#include "teller/result.h"

namespace teller {

class TarFeed {
 public:
  explicit TarFeed(InputStream& input) : input_(input) {}
  TarFeed(const TarFeed&) = delete;
  TarFeed& operator=(const TarFeed&) = delete;

  // Opens `a`, to which the formats have been told, on the bytes.
  int open(archive* a);
  // Why reading the file failed; nothing if it did not.
  const std::optional<Error>& failure() const { return failure_; }

  // Whether a block of zeros, as the end of a tar has, stands before the offset `at` of the bytes
  // given so far.
  bool is_end_before(std::uint64_t at) const;
  // Whether nothing but zeros was given from the offset `at` on, which lies in the last pieces.
  bool only_zeros_from(std::uint64_t at) const;
  // Reads what is left, at most `limit` bytes; how many there are in all.
  Result<std::uint64_t> drain(std::uint64_t limit);

 private:
  static la_ssize_t read_piece(archive* a, void* self, const void** buffer);
  Result<std::string_view> next();

  InputStream& input_;
  std::optional<Error> failure_;
  std::string tail_;          // the end of the piece before
  std::string_view current_;  // the piece that was given last
  std::uint64_t given_ = 0;   // bytes in all, the current piece among them
};

}  // namespace teller
