// Takes apart in one pass the events that are as profilers write nearly all of them; whatever is
// out of the ordinary is left to KinetoEventParser, which would find the same in these.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "importers/kineto_event.h"

namespace teller {

class KinetoPlainParser {
 public:
  // Takes apart the event at the start of `text`, behind which plain_json::kPadding blanks stand.
  // Returns how long it is; 0 if it is not plain, or not all of it is there. All fields of its
  // arguments are compact; views are valid until the next call.
  std::size_t parse(std::string_view text, KinetoEvent& event);

 private:
  const char* member(std::string_view key, const char* at, KinetoEvent& event);
  const char* arguments(const char* at, KinetoEvent& event);
  // Reads the value at `at` into `field`, whose key is known; returns its end, or null.
  const char* value(const char* at, JsonField& field);

  std::string_view text_;
  const char* end_ = nullptr;
  std::unique_ptr<char[]> copies_;  // containers without their blanks
  std::size_t room_ = 0;
  char* copied_ = nullptr;  // end of what is used of it
};

}  // namespace teller
