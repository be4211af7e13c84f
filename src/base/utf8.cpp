#include "base/utf8.h"

namespace teller {

namespace {

// What a first byte announces, and what the second may be; later ones are 80..BF.
struct Form {
  std::size_t length;  // 0: no character begins so
  unsigned least;
  unsigned most;
};

Form form_of(unsigned first) {
  if (first < 0x80) return {1, 0x80, 0xBF};
  if (first < 0xC2) return {0, 0, 0};
  if (first < 0xE0) return {2, 0x80, 0xBF};
  if (first < 0xF0) return {3, first == 0xE0 ? 0xA0u : 0x80u, first == 0xED ? 0x9Fu : 0xBFu};
  if (first < 0xF5) return {4, first == 0xF0 ? 0x90u : 0x80u, first == 0xF4 ? 0x8Fu : 0xBFu};
  return {0, 0, 0};
}

}  // namespace

Utf8Piece read_utf8(std::string_view text) {
  if (text.empty()) return {};
  const unsigned first = static_cast<unsigned char>(text[0]);
  const Form form = form_of(first);
  if (form.length <= 1) return {1, form.length == 1, first};
  std::uint32_t code = first & (0x7Fu >> form.length);
  for (std::size_t i = 1; i < form.length; ++i) {
    const unsigned byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    const bool fits = i == 1 ? byte >= form.least && byte <= form.most : (byte & 0xC0) == 0x80;
    if (!fits) return {i, false, 0};
    code = code << 6 | (byte & 0x3F);
  }
  return {form.length, true, code};
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

void append_valid_utf8(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const Utf8Piece piece = read_utf8(text);
    out += piece.valid ? text.substr(0, piece.length) : kReplacement;
    text.remove_prefix(piece.length);
  }
}

}  // namespace teller
