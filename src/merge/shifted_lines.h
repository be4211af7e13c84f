// Files of JSON lines whose times are put on another clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller {

struct ShiftRequest {
  std::string from;                     // file of JSON lines
  std::vector<std::string_view> times;  // keys that hold nanoseconds, or null
  std::int64_t shift_ns = 0;            // added to them
  std::string host;                     // added as "host" where a line has none and it is not ""
};

struct ShiftCounts {
  std::uint64_t lines = 0;
  std::uint64_t malformed = 0;
  std::uint64_t out_of_range = 0;  // times that no 64-bit number holds on the other clock: null now
};

// Appends the lines of `request.from` to the open file `fd` (called `path` in errors).
Result<ShiftCounts> append_shifted(const ShiftRequest& request, int fd, const std::string& path);

}  // namespace teller
