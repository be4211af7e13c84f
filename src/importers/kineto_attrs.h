// Builds the JSON object of an event's further fields, member by member.
#pragma once

#include <string_view>

#include "base/byte_buffer.h"
#include "importers/plain_json.h"

namespace teller {

class KinetoAttrs {
 public:
  void clear() { text_.clear(); }
  bool empty() const { return text_.empty(); }
  // Adds a member whose key and value are JSON without blanks; around both, kPadding bytes may be
  // read.
  void add_compact(std::string_view key, std::string_view value) {
    const std::size_t most = key.size() + value.size() + 4 + 2 * plain_json::kCopySlack;
    char* const begin = text_.room(most);
    char* at = begin;
    *at++ = empty() ? '{' : ',';
    *at++ = '"';
    at = plain_json::copy(at, key.data(), key.size());
    *at++ = '"';
    *at++ = ':';
    at = plain_json::copy(at, value.data(), value.size());
    text_.extend(static_cast<std::size_t>(at - begin));
  }
  // Adds `member`: a key in its quotes, a colon and a value.
  void add(std::string_view member) {
    text_.append(empty() ? "{" : ",", 1);
    text_.append(member);
  }
  // The object, whole; nothing may be added then.
  std::string_view close() {
    text_.append("}", 1);
    return text_.view();
  }

 private:
  ByteBuffer text_;
};

}  // namespace teller
