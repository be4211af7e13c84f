#include "importers/kineto_plain_event.h"

#include "importers/plain_json.h"

namespace teller {

namespace {

using namespace plain_json;

std::string_view view(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
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
  key_ = memory_.event_begin();
  in_arguments_ = false;
  const char* at = text.data() + 1;
  for (;;) {
    const Next next = next_key(at);
    if (next == Next::kEnd) break;
    if (next == Next::kNotPlain) return 0;
    const KinetoKeyMemory::Key* const key = key_;
    if (key->slot != nullptr) {
      at = slot(at, event.*key->slot);
    } else if (key->arguments) {
      at = arguments(at, event);
      key_ = key;
    } else {
      JsonField extra;
      extra.key = name_;
      at = value(at, extra);
      // How an arrow binds is said by every one alike.
      if (extra.key != "bp") event.extra.push_back(extra);
    }
    if (at == nullptr) return 0;
  }
  return at <= end_ ? static_cast<std::size_t>(at - text.data()) : 0;
}

KinetoPlainParser::Next KinetoPlainParser::next_key(const char*& at) {
  if (at >= end_) return Next::kNotPlain;
  const KinetoKeyMemory::Key* key = memory_.find(key_, at);
  if (key == nullptr) return read_key(at);
  key_ = key;
  name_ = {at + key->name_begin, key->name_size};
  at += key->size;
  if (static_cast<unsigned char>(*at) <= ' ') at = skip_blank(at, end_);
  return Next::kKey;
}

KinetoPlainParser::Next KinetoPlainParser::read_key(const char*& at) {
  const char* const begin = at;
  const bool first = memory_.is_begin(key_);
  at = skip_blank(at, end_);
  // An event without members is for others to judge; arguments may well have none.
  if (*at == '}' && (!first || in_arguments_)) {
    ++at;
    return Next::kEnd;
  }
  if (!first) {
    if (*at != ',') return Next::kNotPlain;
    at = skip_blank(at + 1, end_);
  }
  if (*at != '"') return Next::kNotPlain;
  const char* quote = text_end(at + 1, end_);
  if (quote == nullptr) return Next::kNotPlain;
  name_ = view(at + 1, quote);
  at = skip_blank(quote + 1, end_);
  if (*at != ':') return Next::kNotPlain;
  at = skip_blank(at + 1, end_);
  key_ = memory_.learn(key_, view(begin, at), name_, in_arguments_);
  return Next::kKey;
}

// A string without escapes, or a number.
const char* KinetoPlainParser::slot(const char* at, std::string_view& field) {
  if (*at == '"') {
    const char* quote = text_end(at + 1, end_);
    if (quote == nullptr) return nullptr;
    field = view(at + 1, quote);
    return quote + 1;
  }
  const char* stop = number_end(at);
  if (stop != nullptr) field = view(at, stop);
  return stop;
}

const char* KinetoPlainParser::arguments(const char* at, KinetoEvent& event) {
  if (*at != '{') return nullptr;
  ++at;
  key_ = memory_.arguments_begin();
  in_arguments_ = true;
  for (;;) {
    const Next next = next_key(at);
    if (next == Next::kNotPlain) return nullptr;
    if (next == Next::kEnd) break;
    JsonField& field = event.args.emplace_back();
    field.key = name_;
    field.id = key_->id;
    at = value(at, field);
    if (at == nullptr) return nullptr;
  }
  in_arguments_ = false;
  return at;
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
