// Takes JSON objects off a text that holds several of them, one a line or over many.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "importers/input_stream.h"
#include "teller/result.h"

namespace teller {

// Objects stand one behind the other: as JSON lines, or printed over many lines. What is broken
// ends at the next line that begins an object of the same kind, so that a line which its writer
// left half written costs only itself.
class JsonDocuments {
 public:
  // `opening` is how a line that begins an object starts ("{\"resource"). An object larger than
  // `limit` bytes is an error. `input` outlives this.
  JsonDocuments(InputStream& input, std::string opening, std::size_t limit)
      : input_(input), opening_(std::move(opening)), limit_(limit) {}

  // The next object's text; "" at the end. Valid until the next call.
  Result<std::string_view> next();

  // Pieces of text so far that are no whole object.
  std::uint64_t broken() const { return broken_; }
  // Whether the text ended inside of an object.
  bool cut() const { return cut_; }

 private:
  // Puts the next line, its line end included, into line_; false at the end.
  Result<bool> read_line();
  // Offset behind the object that ends in line_, from line_at_ on; npos if none does.
  std::size_t object_end();
  void drop_open();

  InputStream& input_;
  std::string opening_;
  std::size_t limit_;
  std::string piece_;
  std::size_t piece_at_ = 0;
  std::string line_;
  std::size_t line_at_ = 0;  // what of line_ was taken
  std::string object_;       // the open object's earlier lines
  std::string found_;
  std::uint64_t depth_ = 0;
  bool in_string_ = false;
  bool ended_ = false;
  bool cut_ = false;
  std::uint64_t broken_ = 0;
};

}  // namespace teller
