// Walks over JSON as profilers write nearly all of it, 16 bytes at a time. It refuses what is rare
// (mistakes, deep nesting) and leaves that to slower readers; what it takes is JSON, and they
// would read it the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace teller::plain_json {

// Blanks that the text must have behind it. They end every token, so that only loops need to look
// at the end.
inline constexpr std::size_t kPadding = 64;
// Bytes that copy() may write behind what it copies.
inline constexpr std::size_t kCopySlack = 16;

inline bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

#ifdef __SSE2__
namespace detail {
inline __m128i load(const char* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}
inline unsigned bits(__m128i bytes) {
  return static_cast<unsigned>(_mm_movemask_epi8(bytes));
}
inline __m128i equal(__m128i bytes, char c) {
  return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}
// Bytes that are `most` or less, unsigned.
inline __m128i at_most(__m128i bytes, char most) {
  return _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(most)), bytes);
}
}  // namespace detail
#endif

// The first byte from `at` on that is no blank.
inline const char* skip_blank(const char* at, const char* end) {
  if (static_cast<unsigned char>(*at) > ' ') return at;
  if (*at == ' ' && static_cast<unsigned char>(at[1]) > ' ') return at + 1;
#ifdef __SSE2__
  using namespace detail;
  for (; at < end; at += 16) {
    const __m128i bytes = load(at);
    const unsigned others =
        ~bits(_mm_or_si128(_mm_or_si128(equal(bytes, ' '), equal(bytes, '\n')),
                           _mm_or_si128(equal(bytes, '\r'), equal(bytes, '\t'))));
    if ((others & 0xffff) != 0) return at + __builtin_ctz(others);
  }
#else
  while (at < end && is_blank(*at)) ++at;
#endif
  return at;
}

// The quote that ends the string whose text starts at `at`, or what else stops it: a backslash, a
// control character, the end of the text. `ascii` becomes false where it holds other characters.
inline const char* string_stop(const char* at, const char* end, bool& ascii) {
#ifdef __SSE2__
  using namespace detail;
  for (; at < end; at += 16) {
    const __m128i bytes = load(at);
    const unsigned stops = bits(
        _mm_or_si128(_mm_or_si128(equal(bytes, '"'), equal(bytes, '\\')), at_most(bytes, 0x1f)));
    const unsigned wide = bits(bytes);
    if (stops == 0) {
      ascii &= wide == 0;
      continue;
    }
    const int first = __builtin_ctz(stops);
    ascii &= (wide & ((1u << first) - 1)) == 0;
    return at + first;
  }
#else
  for (; at < end && *at != '"' && *at != '\\'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte < 0x20) break;
    ascii &= byte < 0x80;
  }
#endif
  return at;
}

inline const char* digits_end(const char* at) {
#ifdef __SSE2__
  using namespace detail;
  for (;; at += 16) {
    const unsigned others = ~bits(at_most(_mm_sub_epi8(load(at), _mm_set1_epi8('0')), 9)) & 0xffff;
    if (others != 0) return at + __builtin_ctz(others);
  }
#else
  while (*at >= '0' && *at <= '9') ++at;
  return at;
#endif
}

// Whether two texts are equal: without a call for short ones, which most are.
inline bool same_text(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 16) return std::memcmp(a.data(), b.data(), size) == 0;
  const auto differ = [&](auto type, std::size_t at) {
    auto other = type;
    std::memcpy(&type, a.data() + at, sizeof type);
    std::memcpy(&other, b.data() + at, sizeof other);
    return type != other;
  };
  if (size >= 8) return !differ(std::uint64_t{}, 0) && !differ(std::uint64_t{}, size - 8);
  if (size >= 4) return !differ(std::uint32_t{}, 0) && !differ(std::uint32_t{}, size - 4);
  for (std::size_t i = 0; i < size; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// End of the number at `at`; null if there is none as JSON writes it.
[[gnu::always_inline]] inline const char* number_end(const char* at) {
  if (*at == '-') ++at;
  const char* end = digits_end(at);
  if (end == at || (*at == '0' && end - at > 1)) return nullptr;
  if (*end == '.') {
    at = end + 1;
    end = digits_end(at);
    if (end == at) return nullptr;
  }
  if (*end == 'e' || *end == 'E') {
    at = end + 1;
    if (*at == '+' || *at == '-') ++at;
    end = digits_end(at);
    if (end == at) return nullptr;
  }
  return end;
}

bool is_utf8(const char* begin, const char* end);

// End of the string without escapes whose text starts at `at`: its closing quote. Null if it is
// none.
inline const char* text_end(const char* at, const char* end) {
  bool ascii = true;
  const char* stop = string_stop(at, end, ascii);
  const bool fine = stop < end && *stop == '"' && (ascii || is_utf8(at, stop));
  return fine ? stop : nullptr;
}
// The same where escapes that JSON knows may be in it.
const char* string_end(const char* at, const char* end);
// End of true, false or null at `at`; null if it is none of them.
const char* word_end(const char* at);
// End of the string, number, true, false or null at `at`; null if there is none.
inline const char* scalar_end(const char* at, const char* end) {
  if (*at == '"') {
    bool ascii = true;
    const char* quote = string_stop(at + 1, end, ascii);
    if (!ascii || quote >= end || *quote != '"') quote = string_end(at + 1, end);
    return quote == nullptr ? nullptr : quote + 1;
  }
  return *at >= 'a' ? word_end(at) : number_end(at);
}

// Appends `size` bytes in steps of 16; returns the end of what was written.
inline char* copy(char* to, const char* from, std::size_t size) {
#ifdef __SSE2__
  for (std::size_t i = 0; i < size; i += 16) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), detail::load(from + i));
  }
#else
  std::memcpy(to, from, size);
#endif
  return to + size;
}

// Copies a whole container, whose bracket is at text[at], to `out` without blanks between its
// tokens and moves `out` to the end. Room for the text's rest and kCopySlack must be there. Returns
// the end of the container; null, if it is none or what seems to be an event of its own begins
// inside.
const char* copy_container(std::string_view text, std::size_t at, char*& out);

}  // namespace teller::plain_json
