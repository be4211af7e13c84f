#include "importers/otlp_values.h"

#include <charconv>

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

const Json kNull;

// Adding a member to an object takes a walk over those that are there: more are left out, and their
// number is said. OpenTelemetry's own limit is 128.
constexpr std::size_t kMostMembers = 1024;
// The same for members whose keys come again and again.
constexpr std::size_t kMostPairs = 4 * kMostMembers;

// Says how many values are not in `object`, under a name that none of its members has.
void say_left_out(std::size_t count, Json& object) {
  std::string key = "left_out";
  while (object.contains(key)) key += '_';
  if (count > 0) object[key] = count;
}

// Depth is that of the parsed text, which is bounded.
Json values_of(const Json& list) {
  Json values = Json::array();
  const Json& elements = otlp_member(list, "values", "values");
  if (!elements.is_array()) return values;
  for (const Json& element : elements) values.push_back(otlp_value(element));
  return values;
}

Json object_of(const Json& pairs) {
  Json object = Json::object();
  if (!pairs.is_array()) return object;
  std::size_t seen = 0;
  for (const Json& pair : pairs) {
    if (object.size() >= kMostMembers || seen++ >= kMostPairs) break;
    const std::string key = otlp_text(pair, "key", "key");
    if (!key.empty()) object[key] = otlp_value(otlp_member(pair, "value", "value"));
  }
  say_left_out(pairs.size() - object.size(), object);
  return object;
}

}  // namespace

const Json& otlp_member(const Json& object, const char* camel, const char* snake) {
  if (!object.is_object()) return kNull;
  for (const char* key : {camel, snake}) {
    const auto found = object.find(key);
    if (found != object.end()) return *found;
  }
  return kNull;
}

std::string otlp_text(const Json& object, const char* camel, const char* snake) {
  const Json& value = otlp_member(object, camel, snake);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::optional<std::int64_t> otlp_integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

Json otlp_value(const Json& any) {
  if (!any.is_object()) return nullptr;
  if (const Json& number = otlp_member(any, "intValue", "int_value"); !number.is_null()) {
    const auto integer = otlp_integer(number);
    return integer ? Json(*integer) : number;
  }
  if (const Json& list = otlp_member(any, "arrayValue", "array_value"); !list.is_null()) {
    return values_of(list);
  }
  if (const Json& list = otlp_member(any, "kvlistValue", "kvlist_value"); !list.is_null()) {
    return object_of(otlp_member(list, "values", "values"));
  }
  constexpr const char* kPlain[][2] = {{"stringValue", "string_value"},
                                       {"doubleValue", "double_value"},
                                       {"boolValue", "bool_value"},
                                       {"bytesValue", "bytes_value"}};
  for (const auto& keys : kPlain) {
    const Json& value = otlp_member(any, keys[0], keys[1]);
    if (!value.is_null()) return value;
  }
  return nullptr;
}

Json otlp_attributes(const Json& owner) {
  return object_of(otlp_member(owner, "attributes", "attributes"));
}

}  // namespace teller
