// Bytes as text.
#pragma once

#include <span>
#include <string>

namespace teller {

// Two lower-case hexadecimal digits a byte.
inline std::string hex_text(std::span<const unsigned char> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace teller
