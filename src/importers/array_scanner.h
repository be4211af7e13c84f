// Finds where the elements of a JSON array begin and end, in text that arrives in pieces, at memory
// speed: 64 bytes at a time, aware of strings, without looking at what the elements hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace teller {

// One element; offsets into the text that was scanned.
struct ArrayElement {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool cut = false;  // another event began inside it: its closing bracket is missing
};

// Scans one array, from behind its '['. The text is one buffer that the caller fills, shifts and
// scans again; all state that survives is here.
class ArrayScanner {
 public:
  // Bytes behind the scanned part that must be there (any content) unless `at_end`, so that what
  // is found never depends on how the text was cut into pieces.
  static constexpr std::size_t kLookahead = 32;
  // Readable bytes that the buffer must have behind its text.
  static constexpr std::size_t kPadding = 64;

  // Starts over at `offset`, which is outside of any element.
  void reset(std::size_t offset);
  // Scans on to about the end of `text`; appends whole elements to `elements`.
  void scan(std::string_view text, bool at_end, std::vector<ArrayElement>& elements);
  // The text moved to lower offsets by `count` bytes.
  void shift(std::size_t count);

  // Gives up the text of the open element so far: it is too large to keep. Its end is still found.
  void forget_open_text() {
    open_at_ = scanned_;
    candidate_ = kNone;
  }

  // The closing ']' was found, at this offset.
  bool done() const { return done_; }
  std::size_t done_at() const { return done_at_; }
  // Everything before this offset may be dropped by the caller.
  std::size_t keep_from() const { return depth_ > 0 ? open_at_ : gap_at_; }
  std::size_t scanned() const { return scanned_; }
  bool inside_element() const { return depth_ > 0; }
  // What looks like an event stands in an array of the open element: whether it is one that follows
  // a lost bracket shows within a bounded number of bytes, and the scanner goes back to it if so.
  bool judging() const { return candidate_ != kNone; }
  // Elements that are no objects ("1", "null"), and stray text between elements.
  std::uint64_t stray() const { return stray_; }

 private:
  void scan_block(std::string_view text, std::size_t at, std::size_t size,
                  std::vector<ArrayElement>& elements);
  // Handles one bracket outside of strings; false if the array ended there.
  bool bracket(std::string_view text, std::size_t at, std::vector<ArrayElement>& elements);
  void count_stray(std::string_view gap);
  void open_bracket(std::string_view text, std::size_t at, std::vector<ArrayElement>& elements);
  bool close_bracket(std::string_view text, std::size_t at, std::vector<ArrayElement>& elements);
  void judge(std::size_t at);
  // Ends the open element where candidate_ is, and starts over there.
  void cut_at_candidate(std::vector<ArrayElement>& elements);
  bool innermost_is_array() const;

  static constexpr std::size_t kNone = std::string_view::npos;
  // Brackets deeper than this are not told apart.
  static constexpr std::uint32_t kKnownDepth = 256;

  std::size_t scanned_ = 0;
  std::size_t open_at_ = 0;  // where the open element began
  std::size_t gap_at_ = 0;   // where the text between elements began
  std::size_t done_at_ = 0;
  std::uint64_t stray_ = 0;
  std::uint32_t depth_ = 0;
  bool in_string_ = false;
  bool escape_ = false;  // the last byte scanned was a backslash that escapes the next
  bool done_ = false;
  bool mismatched_ = false;          // a bracket of the open element was closed by another kind's
  std::size_t candidate_ = kNone;    // the first event in an array of the open element
  std::uint64_t judge_bytes_ = 0;    // how far behind it the element must end
  std::uint64_t judged_bytes_ = 0;   // scanned behind candidates that were events, in all
  std::uint64_t shifted_bytes_ = 0;  // the text moved by, in all
  std::array<std::uint64_t, kKnownDepth / 64> arrays_{};  // which open brackets are '['
};

// Whether an event object ("{" blanks "\"ph\"") begins at `at`, right after a comma; what a lost
// closing brace looks like.
bool event_begins(std::string_view text, std::size_t at, std::size_t from);
// The first place after `from` where an event seems to begin; npos if there is none.
std::size_t find_event(std::string_view text, std::size_t from);

}  // namespace teller
