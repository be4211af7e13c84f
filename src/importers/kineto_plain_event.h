// Takes apart in one pass the events that are as profilers write nearly all of them; whatever is
// out of the ordinary is left to KinetoEventParser, which would find the same in these.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "importers/kineto_event.h"
#include "importers/kineto_key_memory.h"

namespace teller {

class KinetoPlainParser {
 public:
  // Takes apart the event at the start of `text`, behind which plain_json::kPadding blanks stand.
  // Returns how long it is; 0 if it is not plain, or not all of it is there. All fields of its
  // arguments are compact; views are valid until the next call.
  std::size_t parse(std::string_view text, KinetoEvent& event);

 private:
  enum class Next { kKey, kEnd, kNotPlain };

  // Moves `at` from behind a value (or bracket) to the value of the next key, which key_ and name_
  // are then, or behind the closing bracket.
  Next next_key(const char*& at);
  Next read_key(const char*& at);
  // These read what stands at `at` and return its end; null if it is not plain.
  const char* slot(const char* at, std::string_view& field);
  const char* arguments(const char* at, KinetoEvent& event);
  const char* value(const char* at, JsonField& field);

  KinetoKeyMemory memory_;
  const KinetoKeyMemory::Key* key_ = nullptr;
  std::string_view name_;
  bool in_arguments_ = false;
  std::string_view text_;
  const char* end_ = nullptr;
  std::unique_ptr<char[]> copies_;  // containers without their blanks
  std::size_t room_ = 0;
  char* copied_ = nullptr;  // end of what is used of it
};

}  // namespace teller
