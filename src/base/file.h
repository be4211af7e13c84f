// Small file operations that fail with one clear line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

// The Error for a failed system call: "WHAT: strerror(number)", with the kind that fits `number`.
Error errno_error(std::string what, int number);
// Reads a whole regular file of at most `limit_bytes`.
Result<std::string> read_file(const std::string& path, std::string_view what,
                              std::uint64_t limit_bytes);
// Creates PATH anew for writing and returns its descriptor. What stood there under that name (a
// left-over, a link, a FIFO) is removed first and never followed.
Result<int> create_fresh(const std::string& path);

// The name under which this process writes a file before it takes the place of `path`: another
// process that writes the same file has another.
std::string part_of(const std::string& path);
// Publishes `content` as `path`: writes part_of(path), fsyncs, renames. Readers see the old file or
// the new one.
Status write_file_atomic(const std::string& path, std::string_view content);
// SHA-256 of a file, as 64 hexadecimal digits.
Result<std::string> sha256_file(const std::string& path);
// SHA-256 of `text`, as 64 hexadecimal digits.
std::string sha256_text(std::string_view text);
// XXH3-128 of a file and of `text`, as 32 hexadecimal digits: many times as fast, against damage
// only.
Result<std::string> xxh128_file(const std::string& path);
std::string xxh128_text(std::string_view text);
// Size in bytes of a regular file.
Result<std::uint64_t> file_size(const std::string& path);

}  // namespace teller
