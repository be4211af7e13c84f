#include "importers/json_documents.h"

#include <algorithm>

#include "importers/json_text.h"

namespace teller {

namespace {

constexpr auto kNone = std::string::npos;

bool is_between(char c) {
  return is_json_blank(c) || c == ',' || c == '\x1e';  // RFC 7464 puts the latter before an object
}

}  // namespace

Result<bool> JsonDocuments::read_line() {
  line_.clear();
  line_at_ = 0;
  while (!ended_) {
    if (piece_at_ == piece_.size()) {
      TELLER_TRY(const std::string_view piece, input_.next());
      piece_ = piece;
      piece_at_ = 0;
      ended_ = piece_.empty();
      continue;
    }
    const std::size_t end = piece_.find('\n', piece_at_);
    const std::size_t stop = end == kNone ? piece_.size() : end + 1;
    line_.append(piece_, piece_at_, stop - piece_at_);
    piece_at_ = stop;
    if (line_.size() + object_.size() > limit_) {
      return Error{ErrorCode::kUnsupported,
                   "one JSON object in it is larger than " + std::to_string(limit_ >> 20) + " MiB",
                   "write it as JSON lines, one object for each export"};
    }
    if (end != kNone) return true;
  }
  return !line_.empty();
}

void JsonDocuments::drop_open() {
  ++broken_;
  object_.clear();
  depth_ = 0;
  in_string_ = false;
}

std::size_t JsonDocuments::object_end() {
  for (std::size_t at = line_at_; at < line_.size(); ++at) {
    const char c = line_[at];
    if (in_string_) {
      if (c == '\\') ++at;
      in_string_ = c != '"';
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      return at + 1;
    }
  }
  return kNone;
}

Result<std::string_view> JsonDocuments::next() {
  found_.clear();
  while (true) {
    if (depth_ == 0) {
      while (line_at_ < line_.size() && is_between(line_[line_at_])) ++line_at_;
      if (line_at_ < line_.size() && line_[line_at_] != '{') {
        ++broken_;
        line_at_ = line_.size();
      }
    }
    if (line_at_ < line_.size()) {
      const std::size_t end = object_end();
      const std::size_t stop = end == kNone ? line_.size() : end;
      object_.append(line_, line_at_, stop - line_at_);
      line_at_ = stop;
      if (end != kNone) {
        found_.swap(object_);
        object_.clear();
        return std::string_view(found_);
      }
    }
    TELLER_TRY(const bool more, read_line());
    if (!more) {
      cut_ = depth_ > 0;
      return std::string_view();
    }
    if (line_.compare(0, 3, "\xEF\xBB\xBF") == 0) line_at_ = 3;
    if (depth_ > 0 && line_.compare(0, opening_.size(), opening_) == 0) drop_open();
  }
}

}  // namespace teller
