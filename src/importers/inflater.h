// Inflates a compressed file piece by piece: gzip and zstd, told apart by their first bytes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace teller {

class Inflater {
 public:
  virtual ~Inflater() = default;
  // "gzip" or "zstd".
  virtual const char* format() const = 0;
  // Gives it the next compressed bytes; they must stay until needs_input().
  virtual void input(std::string_view data) = 0;
  virtual bool needs_input() const = 0;
  // True where a member (gzip) or frame (zstd) was begun and has not ended.
  virtual bool inside_member() const = 0;
  // Appends inflated bytes to `out` until it holds `limit`; false if the data is damaged.
  virtual bool inflate_to(std::string& out, std::size_t limit) = 0;
};

// What inflates a file that begins with `head` (4 bytes are enough); null for a plain one.
std::unique_ptr<Inflater> inflater_for(std::string_view head);

}  // namespace teller
