// Builds the JSON objects of events' further fields, member by member, one behind the other.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/byte_buffer.h"
#include "importers/plain_json.h"

namespace teller {

class KinetoAttrs {
 public:
  using Length = std::uint32_t;

  // The next object goes behind what is in `out`, behind its own length.
  void begin(ByteBuffer& out) {
    out_ = &out;
    begin_ = out.size();
  }
  bool empty() const { return out_->size() == begin_; }
  // Adds a member whose key and value are JSON without blanks; around both, kPadding bytes may be
  // read.
  void add_compact(std::string_view key, std::string_view value) {
    const std::size_t most =
        sizeof(Length) + key.size() + value.size() + 4 + 2 * plain_json::kCopySlack;
    char* const begin = out_->room(most);
    char* at = open(begin);
    *at++ = '"';
    at = plain_json::copy(at, key.data(), key.size());
    *at++ = '"';
    *at++ = ':';
    at = plain_json::copy(at, value.data(), value.size());
    out_->extend(static_cast<std::size_t>(at - begin));
  }
  // Adds `member`: a key in its quotes, a colon and a value.
  void add(std::string_view member) {
    char* const begin = out_->room(sizeof(Length) + 1);
    out_->extend(static_cast<std::size_t>(open(begin) - begin));
    out_->append(member);
  }
  // Ends the object, which is not empty, and answers how long it is.
  Length close() {
    out_->append("}", 1);
    const auto length = static_cast<Length>(out_->size() - begin_ - sizeof(Length));
    std::memcpy(out_->data() + begin_, &length, sizeof length);
    return length;
  }
  // Takes back what was added since begin().
  void drop() { out_->cut(begin_); }

 private:
  // Writes what stands before a member to `at`, and answers where that ends.
  char* open(char* at) const {
    const bool first = empty();
    if (first) at += sizeof(Length);
    *at++ = first ? '{' : ',';
    return at;
  }

  ByteBuffer* out_ = nullptr;
  std::size_t begin_ = 0;
};

}  // namespace teller
