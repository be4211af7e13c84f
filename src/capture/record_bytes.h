// Takes the parts of a ring's record off its front, with their sizes checked.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace teller::capture {

template <typename Fixed>
bool take(std::string_view& payload, Fixed* fixed) {
  if (payload.size() < sizeof *fixed) return false;
  std::memcpy(fixed, payload.data(), sizeof *fixed);
  payload.remove_prefix(sizeof *fixed);
  return true;
}

inline bool take_text(std::string_view payload, std::uint32_t bytes, std::string_view* text) {
  if (payload.size() < bytes) return false;
  *text = payload.substr(0, bytes);
  return true;
}

inline std::int64_t time_of(std::uint64_t ns) {
  return static_cast<std::int64_t>(ns);
}

}  // namespace teller::capture
