#include "importers/kineto_plain_event.h"

#include "importers/plain_json.h"

namespace teller {

namespace {

using namespace plain_json;

std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

// From the quote behind a key to its value; null where no colon is between them.
const char* value_begin(const char* quote, const char* end) {
  const char* at = quote[1] == ':' ? quote + 1 : skip_blank(quote + 1, end);
  return *at == ':' ? skip_blank(at + 1, end) : nullptr;
}

// Where the field of an event is that has this key; null if it has none.
std::string_view* slot(std::string_view key, KinetoEvent& event) {
  switch (key.size()) {
    case 2:
      if (same_key(key, "ph")) return &event.ph;
      if (same_key(key, "ts")) return &event.ts;
      return same_key(key, "id") ? &event.id : nullptr;
    case 3:
      if (same_key(key, "cat")) return &event.cat;
      if (same_key(key, "pid")) return &event.pid;
      if (same_key(key, "tid")) return &event.tid;
      return same_key(key, "dur") ? &event.dur : nullptr;
    case 4:
      return same_key(key, "name") ? &event.name : nullptr;
    default:
      return nullptr;
  }
}

// Reads a string without escapes, or a number, into `field`.
const char* slot_value(const char* at, const char* end, std::string_view& field) {
  if (*at == '"') {
    const char* quote = text_end(at + 1, end);
    if (quote == nullptr) return nullptr;
    field = view(at + 1, quote);
    return quote + 1;
  }
  const char* stop = number_end(at);
  if (stop != nullptr) field = view(at, stop);
  return stop;
}

}  // namespace

std::size_t KinetoPlainParser::parse(std::string_view text, KinetoEvent& event) {
  event.ph = event.cat = event.name = event.pid = event.tid = event.ts = event.dur = event.id = {};
  event.args.clear();
  event.extra.clear();
  text_ = text;
  end_ = text.data() + text.size();
  if (room_ < text.size() + kCopySlack) {
    room_ = text.size() + kCopySlack;
    copies_ = std::make_unique_for_overwrite<char[]>(room_);
  }
  copied_ = copies_.get();
  const char* at = text.data();
  do {
    at = skip_blank(at + 1, end_);
    if (*at != '"') return 0;
    const char* quote = text_end(at + 1, end_);
    if (quote == nullptr) return 0;
    const std::string_view key = view(at + 1, quote);
    at = value_begin(quote, end_);
    if (at == nullptr) return 0;
    at = member(key, at, event);
    if (at == nullptr) return 0;
    at = skip_blank(at, end_);
  } while (*at == ',');
  const bool whole = *at == '}' && at < end_;
  return whole ? static_cast<std::size_t>(at + 1 - text.data()) : 0;
}

const char* KinetoPlainParser::member(std::string_view key, const char* at, KinetoEvent& event) {
  if (std::string_view* field = slot(key, event)) return slot_value(at, end_, *field);
  if (key == "args") return arguments(at, event);
  JsonField extra;
  extra.key = key;
  at = value(at, extra);
  // How an arrow binds is said by every one alike.
  if (key != "bp") event.extra.push_back(extra);
  return at;
}

const char* KinetoPlainParser::arguments(const char* at, KinetoEvent& event) {
  if (*at != '{') return nullptr;
  at = skip_blank(at + 1, end_);
  if (*at == '}') return at + 1;
  for (;; at = skip_blank(at + 1, end_)) {
    if (*at != '"') return nullptr;
    const char* quote = text_end(at + 1, end_);
    if (quote == nullptr) return nullptr;
    JsonField& field = event.args.emplace_back();
    field.key = view(at + 1, quote);
    field.id = kineto_key(field.key);
    at = value_begin(quote, end_);
    if (at == nullptr) return nullptr;
    at = value(at, field);
    if (at == nullptr) return nullptr;
    at = skip_blank(at, end_);
    if (*at == '}') return at + 1;
    if (*at != ',') return nullptr;
  }
}

const char* KinetoPlainParser::value(const char* at, JsonField& field) {
  field.compact = true;
  if (*at != '[' && *at != '{') {
    const char* end = scalar_end(at, end_);
    if (end != nullptr) field.value = view(at, end);
    return end;
  }
  // Somebody might want it as it was written.
  if (field.id != KinetoKey::kOther) return nullptr;
  const char* begin = copied_;
  const char* end = copy_container(text_, static_cast<std::size_t>(at - text_.data()), copied_);
  if (end != nullptr) field.value = view(begin, copied_);
  return end;
}

}  // namespace teller
