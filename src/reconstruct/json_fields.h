// Fields of JSON objects that others wrote: what is missing or of another type is taken as unknown.
// Private to reconstruct/.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace teller {

template <typename Json>
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->template get<std::string>()
                                                     : std::string();
}

template <typename Json>
std::int64_t number_of(const Json& object, const char* key, std::int64_t otherwise = -1) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->template get<std::int64_t>()
                                                             : otherwise;
}

}  // namespace teller
