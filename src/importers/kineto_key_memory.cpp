#include "importers/kineto_key_memory.h"

#include <algorithm>

namespace teller {

namespace {

using Key = KinetoKeyMemory::Key;

// The member of KinetoEvent for the event's key `name`; null if it has none.
std::string_view KinetoEvent::*slot_of(std::string_view name) {
  if (name == "ph") return &KinetoEvent::ph;
  if (name == "cat") return &KinetoEvent::cat;
  if (name == "name") return &KinetoEvent::name;
  if (name == "pid") return &KinetoEvent::pid;
  if (name == "tid") return &KinetoEvent::tid;
  if (name == "ts") return &KinetoEvent::ts;
  if (name == "dur") return &KinetoEvent::dur;
  return name == "id" ? &KinetoEvent::id : nullptr;
}

void describe(Key& key, std::string_view name, bool argument) {
  key.argument = argument;
  key.id = argument ? kineto_key(name) : KinetoKey::kOther;
  key.slot = argument ? nullptr : slot_of(name);
  key.arguments = !argument && name == "args";
}

}  // namespace

const Key* KinetoKeyMemory::learn(const Key* before, std::string_view text, std::string_view name,
                                  bool argument) {
  std::size_t at = kFirst;
  while (at < used_ && (keys_[at].argument != argument ||
                        std::string_view(keys_[at].text, keys_[at].size) != text)) {
    ++at;
  }
  if (at == kMostKeys || text.size() > Key::kMostBytes) {
    describe(keys_[kUnknown], name, argument);
    return &keys_[kUnknown];
  }
  Key& key = keys_[at];
  if (at == used_) {
    ++used_;
    describe(key, name, argument);
    text.copy(key.text, text.size());
    key.size = static_cast<std::uint8_t>(text.size());
    key.name_begin = static_cast<std::uint8_t>(name.data() - text.data());
    key.name_size = static_cast<std::uint8_t>(name.size());
  }
  Key& last = keys_[static_cast<std::size_t>(before - keys_.data())];
  if (&last == &keys_[kUnknown]) return &key;
  // The newest comes first; one more than there is room for drops the oldest.
  last.next_count = std::min<std::uint8_t>(last.next_count + 1, Key::kMostNext);
  std::copy_backward(last.next.begin(), last.next.begin() + last.next_count - 1,
                     last.next.begin() + last.next_count);
  last.next[0] = static_cast<std::uint8_t>(at);
  return &key;
}

}  // namespace teller
