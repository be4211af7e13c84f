#include "importers/kineto_event.h"

#include <simdjson.h>

#include <array>
#include <cstring>
#include <string>

#include "base/json.h"
#include "importers/json_text.h"

namespace teller {

namespace ondemand = simdjson::ondemand;
using Outcome = KinetoEventParser::Outcome;

static_assert(KinetoEventParser::kPadding >= simdjson::SIMDJSON_PADDING);

// Fields that an event's members go to.
namespace {
enum Slot { kPh, kCat, kName, kPid, kTid, kTs, kDur, kId, kSlots };
}  // namespace

struct KinetoEventParser::State {
  ondemand::parser parser;
  std::array<std::string, kSlots> unescaped;  // text of fields that had escapes
  std::string key_room;

  // The key that `key`, as it was written, stands for; valid until the next call.
  std::string_view meaning(std::string_view key);
  Outcome members(ondemand::object object, KinetoEvent& event);
  Outcome member(std::string_view key, ondemand::value value, KinetoEvent& event);
  Outcome take(Slot slot, ondemand::value value, std::string_view& field);
  Outcome arguments(ondemand::value value, KinetoEvent& event);
};

namespace {

Outcome outcome_of(simdjson::error_code error) {
  const bool text = error == simdjson::UTF8_ERROR || error == simdjson::UNESCAPED_CHARS ||
                    error == simdjson::STRING_ERROR;
  return text ? Outcome::kNeedsRepair : Outcome::kMalformed;
}

// The text of a key, which starts behind its opening quote and is known to end.
std::string_view key_text(ondemand::raw_json_string key) {
  const char* begin = key.raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<std::size_t>(end - begin)};
}

simdjson::error_code raw_value(ondemand::value value, std::string_view& raw) {
  raw = trim_blank(value.raw_json_token());
  if (raw.empty()) return simdjson::TAPE_ERROR;
  if (raw[0] == '{') {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return object.raw_json().get(raw);
  }
  if (raw[0] == '[') {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return array.raw_json().get(raw);
  }
  return simdjson::SUCCESS;
}

int slot_of(std::string_view key) {
  if (key == "ph") return kPh;
  if (key == "cat") return kCat;
  if (key == "name") return kName;
  if (key == "pid") return kPid;
  if (key == "tid") return kTid;
  if (key == "ts") return kTs;
  if (key == "dur") return kDur;
  if (key == "id") return kId;
  return -1;
}

std::string_view& field_of(KinetoEvent& event, int slot) {
  switch (slot) {
    case kPh:
      return event.ph;
    case kCat:
      return event.cat;
    case kName:
      return event.name;
    case kPid:
      return event.pid;
    case kTid:
      return event.tid;
    case kTs:
      return event.ts;
    case kDur:
      return event.dur;
    default:
      return event.id;
  }
}

}  // namespace

std::string_view KinetoEventParser::State::meaning(std::string_view key) {
  if (key.find('\\') == std::string_view::npos) return key;
  key_room.clear();
  return append_unescaped(key, key_room) ? std::string_view(key_room) : key;
}

Outcome KinetoEventParser::State::take(Slot slot, ondemand::value value, std::string_view& field) {
  std::string_view raw;
  if (const auto error = raw_value(value, raw)) return outcome_of(error);
  const auto body = string_body(raw);
  if (!body) {
    const bool container = raw.front() == '{' || raw.front() == '[';
    if (container && !json_depth_within(raw, kMaxJsonDepth)) return Outcome::kMalformed;
    field = raw == "null" && slot != kDur ? std::string_view{} : raw;
    return raw.front() == '"' ? Outcome::kMalformed : Outcome::kGood;
  }
  field = *body;
  if (body->find('\\') == std::string_view::npos) return Outcome::kGood;
  unescaped[slot].clear();
  if (!append_unescaped(*body, unescaped[slot])) return Outcome::kNeedsRepair;
  field = unescaped[slot];
  return Outcome::kGood;
}

Outcome KinetoEventParser::State::arguments(ondemand::value value, KinetoEvent& event) {
  ondemand::object object;
  if (value.get_object().get(object)) {
    // "args": null and the like say nothing; anything else is kept as it is.
    const std::string_view raw = trim_blank(value.raw_json_token());
    if (raw != "null" && raw != "\"\"") event.extra.push_back({"args", raw, {}, false});
    return Outcome::kGood;
  }
  for (auto field : object) {
    if (field.error()) return outcome_of(field.error());
    JsonField argument;
    argument.key = key_text(field.key().value_unsafe());
    argument.id = kineto_key(meaning(argument.key));
    if (const auto error = raw_value(field.value().value_unsafe(), argument.value)) {
      return outcome_of(error);
    }
    event.args.push_back(argument);
  }
  return Outcome::kGood;
}

Outcome KinetoEventParser::State::member(std::string_view key, ondemand::value value,
                                         KinetoEvent& event) {
  const std::string_view name = meaning(key);
  const int slot = slot_of(name);
  if (slot >= 0) return take(static_cast<Slot>(slot), value, field_of(event, slot));
  if (name == "args") return arguments(value, event);
  JsonField extra;
  extra.key = key;
  if (const auto error = raw_value(value, extra.value)) return outcome_of(error);
  // How an arrow binds is said by every one alike.
  if (name != "bp") event.extra.push_back(extra);
  return Outcome::kGood;
}

Outcome KinetoEventParser::State::members(ondemand::object object, KinetoEvent& event) {
  for (auto field : object) {
    if (field.error()) return outcome_of(field.error());
    const std::string_view key = key_text(field.key().value_unsafe());
    const Outcome outcome = member(key, field.value().value_unsafe(), event);
    if (outcome != Outcome::kGood) return outcome;
  }
  return Outcome::kGood;
}

KinetoEventParser::KinetoEventParser() : state_(std::make_unique<State>()) {}
KinetoEventParser::~KinetoEventParser() = default;

Outcome KinetoEventParser::parse(std::string_view text, KinetoEvent& event) {
  event.ph = event.cat = event.name = event.pid = event.tid = event.ts = event.dur = event.id = {};
  event.args.clear();
  event.extra.clear();
  ondemand::document document;
  if (const auto error =
          state_->parser.iterate(text.data(), text.size(), text.size() + kPadding).get(document)) {
    return outcome_of(error);
  }
  ondemand::object object;
  if (const auto error = document.get_object().get(object)) return outcome_of(error);
  return state_->members(object, event);
}

}  // namespace teller
