// Log text as lines of logs.jsonl.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "importers/source_import.h"
#include "teller/result.h"

namespace teller {

// Sets the text of a line: without line ends, as valid UTF-8.
void set_log_text(std::string_view text, LogLine& line);
// Appends each line of `text`, with the other fields of `like`.
void append_log_lines(std::string_view text, const LogLine& like, std::vector<LogLine>& lines);
// Reads a log file; its lines carry their own times as text, so t_ns is left open.
Status read_log_file(const std::string& path, const std::string& name, std::vector<LogLine>& lines);
// One line of logs.jsonl for each, in order.
std::string log_lines_json(const std::vector<LogLine>& lines);

}  // namespace teller
