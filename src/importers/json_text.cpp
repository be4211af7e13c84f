#include "importers/json_text.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace teller {

namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The code unit of "XXXX" at the start of `text`; -1 if it is none.
int hex4(std::string_view text) {
  if (text.size() < 4) return -1;
  int unit = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

JsonEscape unicode_escape(std::string_view text) {
  const int unit = hex4(text.substr(2));
  if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return {};
  if (unit < 0xD800 || unit > 0xDBFF) return {6, static_cast<std::uint32_t>(unit)};
  if (text.size() < 12 || text[6] != '\\' || text[7] != 'u') return {};
  const int low = hex4(text.substr(8));
  if (low < 0xDC00 || low > 0xDFFF) return {};
  return {12, 0x10000u + (static_cast<std::uint32_t>(unit - 0xD800) << 10) +
                  static_cast<std::uint32_t>(low - 0xDC00)};
}

void append_control(char c, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  if (c == '\n') {
    out += "\\n";
  } else if (c == '\t') {
    out += "\\t";
  } else if (c == '\r') {
    out += "\\r";
  } else {
    out += "\\u00";
    out += kHex[(c >> 4) & 15];
    out += kHex[c & 15];
  }
}

// End of the comment that starts at `at`, as JavaScript writes them; `at` if there is none.
std::size_t comment_end(std::string_view text, std::size_t at) {
  const bool line = text.substr(at, 2) == "//";
  if (!line && text.substr(at, 2) != "/*") return at;
  const std::size_t end = text.find(line ? "\n" : "*/", at + 2);
  return end == std::string_view::npos ? text.size() : end + (line ? 1 : 2);
}

// Whether nothing but blanks and comments stands between the comma at `at` and a closing bracket.
bool is_trailing_comma(std::string_view text, std::size_t at) {
  for (++at; at < text.size();) {
    const std::size_t end = comment_end(text, at);
    if (end == at && !is_json_blank(text[at])) return text[at] == '}' || text[at] == ']';
    at = end == at ? at + 1 : end;
  }
  return false;
}

// Appends the character at text[at], which lies inside a string, mended; returns how far it went.
std::size_t append_repaired(std::string_view text, std::size_t at, std::string& out) {
  const char c = text[at];
  if (c == '\\') {
    const JsonEscape escape = json_escape(text.substr(at));
    if (escape.length != 0) {
      out += text.substr(at, escape.length);
      return escape.length;
    }
    // A lone surrogate stands for no character; any other wrong escape is a lone backslash.
    if (hex4(text.substr(std::min(at + 2, text.size()))) >= 0 && text[at + 1] == 'u') {
      out += "\\ufffd";
      return 6;
    }
    out += "\\\\";
    return 1;
  }
  if (static_cast<unsigned char>(c) < 0x20) {
    append_control(c, out);
    return 1;
  }
  const Utf8Piece piece = read_utf8(text.substr(at));
  out += piece.valid ? text.substr(at, piece.length) : kReplacement;
  return piece.length;
}

}  // namespace

JsonEscape json_escape(std::string_view text) {
  if (text.size() < 2) return {};
  switch (text[1]) {
    case '"':
    case '\\':
    case '/':
      return {2, static_cast<unsigned char>(text[1])};
    case 'b':
      return {2, '\b'};
    case 'f':
      return {2, '\f'};
    case 'n':
      return {2, '\n'};
    case 'r':
      return {2, '\r'};
    case 't':
      return {2, '\t'};
    case 'u':
      return unicode_escape(text);
    default:
      return {};
  }
}

std::size_t json_string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return std::string_view::npos;
}

std::string_view trim_blank(std::string_view text) {
  while (!text.empty() && is_json_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_json_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::string_view> string_body(std::string_view token) {
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return std::nullopt;
  return token.substr(1, token.size() - 2);
}

bool append_unescaped(std::string_view body, std::string& out) {
  for (std::size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      out += body[at++];
      continue;
    }
    const JsonEscape escape = json_escape(body.substr(at));
    if (escape.length == 0) return false;
    append_utf8(escape.code, out);
    at += escape.length;
  }
  return true;
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"' || text[at] == '\\') {
      out += '\\';
      out += text[at++];
    } else {
      at += append_repaired(text, at, out);
    }
  }
  out += '"';
}

std::string repair_json(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 16);
  bool in_string = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      in_string = !in_string;
      out += text[at++];
    } else if (in_string) {
      at += append_repaired(text, at, out);
    } else if (const std::size_t end = comment_end(text, at); end != at) {
      at = end;
    } else if (text[at] == ',' && is_trailing_comma(text, at)) {
      ++at;
    } else {
      const bool plain = static_cast<unsigned char>(text[at]) < 0x80;
      out += plain ? text.substr(at, 1) : kReplacement;
      ++at;
    }
  }
  return out;
}

}  // namespace teller
