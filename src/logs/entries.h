// Puts lines that belong together into entries: a Python traceback with what it chains, the block
// of a CUDA error, C++ stack frames, torchelastic's list of failures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "logs/line.h"

namespace teller {

class LogEntries {
 public:
  struct Line {
    std::string_view stream;
    std::int64_t owner = -1;    // pid that the stream belongs to
    std::int64_t time_ns = -1;  // arrival; -1 where unknown
    bool rest = false;          // goes on with an over-long line
    const LogFields* fields = nullptr;
  };

  // The row of the first line of the entry that `line`, in row `row`, belongs to: `row` itself
  // where it begins one. Lines of one stream that name processes or ranks are told apart by them.
  std::uint32_t place(const Line& line, std::uint32_t row);

 private:
  enum class State : std::uint8_t {
    kPlain,
    kFrames,   // in a traceback: frames, then the exception
    kAfter,    // behind the exception: what explains it
    kChained,  // "During handling of …": another traceback comes
    kBlock,    // torchelastic's failures, up to their closing rule
  };
  struct Open {
    std::uint32_t row = 0;
    std::int64_t last_ns = -1;
    State state = State::kPlain;
    bool error = false;   // its first line is an error
    bool headed = false;  // by a formatted line that no traceback has followed yet
    std::string level;
    std::string source;
    std::uint32_t block_lines = 0;
  };
  struct Stream {
    std::map<std::int64_t, Open> open;  // by process or rank
    std::int64_t last = 0;              // that of the latest line
  };

  static State first_state(const LogFields& fields);
  // Whether the line goes on with `open`, which is then brought up to date.
  static bool goes_on(const Line& line, Open& open);
  static bool advance(std::string_view message, Open& open);

  std::map<std::pair<std::int64_t, std::string>, Stream> streams_;
};

}  // namespace teller
