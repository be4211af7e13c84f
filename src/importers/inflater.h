// Inflates a compressed file piece by piece: gzip and zstd, told apart by their first bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace teller {

// Members (gzip) and frames (zstd) may follow each other. What stands behind the last one and does
// not begin like one is no data: padding with zeros is passed over, the rest counted.
class Inflater {
 public:
  virtual ~Inflater() = default;
  // "gzip" or "zstd".
  virtual const char* format() const = 0;
  // Gives it the next compressed bytes; they must stay until needs_input().
  void input(std::string_view data) { waiting_ = data; }
  bool needs_input() const { return waiting_.empty() && !holds_back(); }
  // True where a member or frame was begun and has not ended.
  bool inside_member() const { return inside_ || !magic_.empty(); }
  // Appends inflated bytes to `out` until it holds `limit`; false if the data is damaged.
  bool inflate_to(std::string& out, std::size_t limit);
  // Bytes behind the compressed data, from the first that is no padding on.
  std::uint64_t bytes_behind() const { return behind_; }

 protected:
  // Whether `head` begins like a member or a frame, as far as it goes.
  virtual bool may_begin(std::string_view head) const = 0;
  // How many bytes are enough for that.
  virtual std::size_t magic_bytes() const = 0;
  // Whether there is output that waits for room.
  virtual bool holds_back() const { return false; }
  struct Step {
    bool fine = true;       // else the data is damaged
    bool ended = false;     // a member or frame has
    std::size_t taken = 0;  // bytes of the input
    std::size_t made = 0;   // bytes of the output
  };
  // Inflates `data` to `out`, which has room for `room` bytes, as far as the member or frame goes.
  virtual Step step(std::string_view data, char* out, std::size_t room) = 0;

 private:
  // Inflates what waits to `out`; `made` counts. False if the data is damaged.
  bool inflate_some(char* out, std::size_t room, std::size_t& made);
  // Between two members: whether the next one may begin, with the bytes in magic_.
  bool take_magic();
  void pass_over_tail();

  std::string_view waiting_;
  std::string magic_;  // the first bytes of a member that is not yet known to be one, or not begun
  bool inside_ = false;
  bool tail_ = false;
  bool any_ = false;  // a member or frame has ended
  std::uint64_t behind_ = 0;
};

// What inflates a file that begins with `head` (4 bytes are enough); null for a plain one.
std::unique_ptr<Inflater> inflater_for(std::string_view head);

}  // namespace teller
