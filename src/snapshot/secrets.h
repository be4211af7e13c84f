// What must not get into a run folder: the rules of redact/, with no patterns of the user's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teller::snapshot_detail {

// `text`, a whole one, with "<redacted:KIND>" where secrets stood (docs/logs.md, Redaction).
std::string redact(std::string_view text);
// The same of the lines of one file, in order: a prompt may span several.
std::vector<std::string> redact_lines(const std::vector<std::string_view>& lines);
// The same of the arguments of a process; a value that follows a secret option is replaced whole.
std::vector<std::string> redact_arguments(const std::vector<std::string>& arguments);

}  // namespace teller::snapshot_detail
