// What texts in Kineto events stand for.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

#include "importers/json_text.h"

namespace teller {

// The text of a JSON scalar: strings without quotes.
inline std::string_view scalar_text(std::string_view raw) {
  return string_body(raw).value_or(raw);
}

// The number that all of `text` is; false if it is none or does not fit.
template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

// Whether the text holds what repair_json() takes out of an object's structure.
inline bool may_be_mended(std::string_view text) {
  for (std::size_t at = text.find_first_of(",/"); at != std::string_view::npos;
       at = text.find_first_of(",/", at + 1)) {
    if (text[at] == '/') return true;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    if (next != std::string_view::npos && (text[next] == '}' || text[next] == ']')) return true;
  }
  return false;
}

// A number that stands for an id that is text.
inline std::uint64_t hash_id(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

// The id of a flow or an asynchronous range: a number, hexadecimal text or any text.
inline std::uint64_t parse_id(std::string_view text) {
  std::uint64_t id = 0;
  if (parse_number(text, id)) return id;
  if (text.substr(0, 2) == "0x") {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, id, 16);
    if (error == std::errc{} && end == last) return id;
  }
  return hash_id(text);
}

}  // namespace teller
