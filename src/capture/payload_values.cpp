#include "capture/payload_values.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

template <typename Number>
Number number_at(std::string_view bytes) {
  Number number{};
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

// IEEE 754 half precision.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int fraction = bits & 0x3ff;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? HUGE_VAL : NAN;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

double bfloat_value(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return static_cast<double>(value);
}

std::string hex_bytes(std::string_view bytes) {
  std::string text;
  char two[3];
  for (const char byte : bytes) {
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned char>(byte));
    text += two;
  }
  return text;
}

void append_utf8(std::uint32_t code, std::string* text) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
  const auto put = [&](std::uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

}  // namespace

std::size_t size_of_type(std::uint64_t type) {
  // By number, as nvToolsExtPayload.h numbers them; sizes are those of x86-64 and AArch64 Linux.
  constexpr std::uint8_t kSizes[] = {0, 1, 1, 2, 2, 4, 4, 8,  8, 8, 8, 1, 1, 2,
                                     2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 4, 1, 2, 4};
  if (type < sizeof kSizes) return kSizes[type];
  switch (type) {
    case 32:  // byte
      return 1;
    case 42:  // half
    case 50:  // bfloat
      return 2;
    case 43:
    case 52:  // TF32
    case 68:  // category
    case 69:  // colour
    case 71:  // process
    case 73:  // thread
      return 4;
    case 44:
    case 70:  // scope
    case 72:
    case 74:
    case 80:  // registered string
      return 8;
    case 33:
    case 34:
    case 45:
      return 16;
    default:
      return 0;
  }
}

std::size_t character_size(std::uint64_t type) {
  switch (type) {
    case 75:  // char, in the program's locale
    case 76:
      return 1;
    case 77:
      return 2;
    case 78:
      return 4;
    default:
      return 0;
  }
}

std::optional<std::uint64_t> whole_number(std::string_view bytes, std::size_t size) {
  if (bytes.size() < size) return std::nullopt;
  switch (size) {
    case 1:
      return number_at<std::uint8_t>(bytes);
    case 2:
      return number_at<std::uint16_t>(bytes);
    case 4:
      return number_at<std::uint32_t>(bytes);
    case 8:
      return number_at<std::uint64_t>(bytes);
    default:
      return std::nullopt;
  }
}

Json scalar_value(std::uint64_t type, std::string_view bytes) {
  switch (type) {
    case 1:  // char
    case 11:
      return number_at<std::int8_t>(bytes);
    case 3:
    case 13:
      return number_at<std::int16_t>(bytes);
    case 5:
    case 15:
      return number_at<std::int32_t>(bytes);
    case 7:
    case 9:
    case 17:
      return number_at<std::int64_t>(bytes);
    case 19:
    case 43:
    case 52:
      return number_at<float>(bytes);
    case 20:
    case 44:
      return number_at<double>(bytes);
    case 21:
      return static_cast<double>(number_at<long double>(bytes));
    case 42:
      return half_value(number_at<std::uint16_t>(bytes));
    case 50:
      return bfloat_value(number_at<std::uint16_t>(bytes));
    case 23:
      return hex_number(number_at<std::uint64_t>(bytes));
    default:
      break;
  }
  const std::size_t size = size_of_type(type);
  const auto number = whole_number(bytes, size);
  return number ? Json(*number) : Json(hex_bytes(bytes.substr(0, size)));
}

std::string text_value(std::string_view bytes, std::size_t size) {
  std::string text;
  for (; bytes.size() >= size; bytes.remove_prefix(size)) {
    const auto code = static_cast<std::uint32_t>(*whole_number(bytes, size));
    if (code == 0) break;
    if (size == 1) {
      text.push_back(bytes.front());
      continue;
    }
    const bool high = size == 2 && code >= 0xd800 && code < 0xdc00 && bytes.size() >= 4;
    const auto low = high ? static_cast<std::uint32_t>(*whole_number(bytes.substr(2), 2)) : 0;
    if (high && low >= 0xdc00 && low < 0xe000) {
      append_utf8(0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), &text);
      bytes.remove_prefix(2);
    } else {
      append_utf8(code, &text);
    }
  }
  return text;
}

std::string hex_number(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace teller::capture
