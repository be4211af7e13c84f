// Fields of JSON objects that others wrote: what is missing or of another type is taken as unknown.
// What is no object has no fields. `Json` is nlohmann::json or nlohmann::ordered_json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace teller {

// The value of a field; null if it is not there. Valid as long as `object`.
template <typename Json>
const Json& member(const Json& object, const char* key) {
  static const Json none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}
template <typename Json>
const Json& member(const Json&& object, const char* key) = delete;

// A text; "" if it is none.
template <typename Json>
std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.template get<std::string>() : std::string();
}

// A whole number.
template <typename Json>
std::int64_t number_of(const Json& object, const char* key, std::int64_t otherwise = -1) {
  const Json& value = member(object, key);
  return value.is_number_integer() ? value.template get<std::int64_t>() : otherwise;
}

// A number of any kind; 0 if it is none.
template <typename Json>
double real_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_number() ? value.template get<double>() : 0.0;
}

}  // namespace teller
