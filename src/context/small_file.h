// Small files of /proc and /sys. Private to context/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace teller {

// The file's text, 1 MiB at most; nothing if it cannot be read.
std::optional<std::string> read_small_file(const std::string& path);
// Takes the next line off `text`.
std::string_view take_line(std::string_view& text);
// Takes the next word off `line`: what stands between blanks.
std::string_view take_word(std::string_view& line);
// An unsigned number; nothing for other text, "max" included.
std::optional<std::uint64_t> to_number(std::string_view text);
// The number behind "KEY " or "KEY: " at the begin of a line of `text`.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key);

}  // namespace teller
