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
// Whether `head`, the beginning of a file (inflated), is a log: enough of its lines have a format
// that is known.
bool looks_like_log(std::string_view head);
// Reads a log file, plain, gzip or zstd; its lines carry their own times as text: place_lines()
// reads them.
Status read_log_file(const std::string& path, const std::string& name,
                     const std::atomic<bool>* stop, std::vector<LogLine>& lines);
// One line of logs.jsonl for each, in order.
std::string log_lines_json(const std::vector<LogLine>& lines);

}  // namespace teller
