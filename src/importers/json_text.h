// JSON as text: copies values compactly, reads strings, and mends what real profilers write wrongly
// (raw newlines, lone backslashes of Windows paths, cut multibyte characters, nan and inf).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teller {

// What copying a JSON value found.
enum class CopyResult {
  kClean,
  kMended,       // a token that is no JSON (nan, inf, 0x1f) was written as a string
  kNeedsRepair,  // a string holds an escape that is no JSON: see repair_json()
  kMalformed,    // not one JSON value
};

// One escape in a string: how many bytes it takes (0 = wrong) and the code point it stands for.
struct JsonEscape {
  std::size_t length = 0;
  std::uint32_t code = 0;
};

inline bool is_json_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
// The escape at the start of `text`, which starts with a backslash.
JsonEscape json_escape(std::string_view text);

// Offset behind the JSON string whose opening quote is at `at`; npos if it does not end in `text`.
std::size_t json_string_end(std::string_view text, std::size_t at);
std::string_view trim_blank(std::string_view text);
// The text between the quotes of a JSON string token; nothing if `token` is no string token.
std::optional<std::string_view> string_body(std::string_view token);
// Appends `raw`, one JSON value, to `out` without blanks between its tokens. `out` may have grown
// by a part of it unless the result is kClean or kMended.
CopyResult append_compact(std::string_view raw, std::string& out);
// What keeps one from making a tree of a JSON text.
enum class JsonTreeFit {
  kFits,
  kTooDeep,      // a value is nested deeper than kMaxJsonDepth: trees are copied by recursion
  kManyMembers,  // an object has more than 4096 members: finding one takes a walk over all
  kManyValues,   // more than kMostJsonValues: each takes up to 100 bytes, and two in the text
};
// Brackets that open, and commas.
inline constexpr std::size_t kMostJsonValues = 4u << 20;
// Never recurses itself; `json` may be any text.
JsonTreeFit json_tree_fit(std::string_view json);
inline bool fits_json_tree(std::string_view json) {
  return json_tree_fit(json) == JsonTreeFit::kFits;
}
// Appends the characters that the JSON string body `body` stands for. False if an escape is wrong.
bool append_unescaped(std::string_view body, std::string& out);
// Appends `text` as a JSON string token, quotes included.
void append_quoted(std::string_view text, std::string& out);
// Rewrites one JSON value so that its strings are well formed: bytes that are no UTF-8 become
// U+FFFD, raw control characters and wrong escapes are escaped. Of its structure only what JSON
// never has is taken out: commas before a closing bracket, and comments.
std::string repair_json(std::string_view text);

}  // namespace teller
