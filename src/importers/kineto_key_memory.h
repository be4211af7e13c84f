// Knows the keys of events by heart: which keys, with the blanks and marks around them, came behind
// which. To compare with what came before takes a fraction of reading it anew.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "importers/kineto_event.h"
#include "importers/plain_json.h"

namespace teller {

class KinetoKeyMemory {
 public:
  // A key of an event or of its arguments, as it stood in a text: from behind the value (or
  // bracket) before it up to its own value.
  struct Key {
    static constexpr std::size_t kMostBytes = 48;
    static constexpr std::size_t kMostNext = 4;
    char text[kMostBytes] = {};
    std::uint8_t size = 0;
    std::uint8_t name_begin = 0;  // the name between its quotes
    std::uint8_t name_size = 0;
    std::uint8_t next_count = 0;
    std::array<std::uint8_t, kMostNext> next{};  // the keys that came behind this one
    KinetoKey id = KinetoKey::kOther;
    bool argument = false;                          // of the arguments, not of the event
    bool arguments = false;                         // "args" itself
    std::string_view KinetoEvent::*slot = nullptr;  // where its value goes, if it has a place
  };

  KinetoKeyMemory() { keys_[kUnknown].next_count = 0; }
  // Stand for the brackets before the first key of an event, and of its arguments.
  const Key* event_begin() const { return &keys_[kEventBegin]; }
  const Key* arguments_begin() const { return &keys_[kArgumentsBegin]; }
  bool is_begin(const Key* key) const { return key == event_begin() || key == arguments_begin(); }

  // The key that stands at `at`, behind `before`, if it is one that came there already; else null.
  // kMostBytes must be readable.
  const Key* find(const Key* before, const char* at) const {
    for (std::size_t i = 0; i < before->next_count; ++i) {
      const Key& key = keys_[before->next[i]];
      if (same_text(key, at)) return &key;
    }
    return nullptr;
  }
  // Keeps in mind that the key whose `text` holds `name` came behind `before`. Returns it; where
  // there is no room, one that serves until the next call.
  const Key* learn(const Key* before, std::string_view text, std::string_view name, bool argument);

 private:
  enum : std::uint8_t { kEventBegin, kArgumentsBegin, kUnknown, kFirst, kMostKeys = 96 };

  static bool same_text(const Key& key, const char* at) {
#ifdef __SSE2__
    using namespace plain_json::detail;
    for (std::size_t done = 0;; done += 16) {
      const unsigned same = bits(_mm_cmpeq_epi8(load(at + done), load(key.text + done)));
      const std::size_t left = key.size - done;
      if (left <= 16) return ((same + 1) & ((1u << left) - 1)) == 0;
      if (same != 0xffff) return false;
    }
#else
    return std::memcmp(at, key.text, key.size) == 0;
#endif
  }

  std::array<Key, kMostKeys> keys_;
  std::size_t used_ = kFirst;
};

}  // namespace teller
