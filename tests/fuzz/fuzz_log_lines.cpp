// The parser of log lines, the entries that they make, and the ids that they state.
#include <vector>

#include "fuzz_file.h"
#include "logs/entries.h"
#include "logs/line.h"

namespace teller::fuzz {

namespace {

// Views of a line's fields lie inside of it; only the kernel has a name that its lines don't say.
void demand_inside(std::string_view part, std::string_view line) {
  if (part.empty() || part == "kernel") return;
  const bool inside =
      part.data() >= line.data() && part.data() + part.size() <= line.data() + line.size();
  demand(inside, "a field that is not of the line");
}

}  // namespace

int fuzz_log_lines(std::string_view text) {
  LogEntries entries;
  std::vector<LogFields> kept;
  kept.reserve(1 << 12);
  for (std::uint32_t row = 0; !text.empty() && row < 1 << 12; ++row) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    kept.push_back(parse_line(line));
    const LogFields& fields = kept.back();
    demand_inside(fields.message, line);
    demand_inside(fields.source, line);
    demand_inside(fields.process, line);
    for (const std::string_view id : stated_requests(fields.message)) {
      demand(!id.empty() && id.size() <= fields.message.size(), "an id that nobody stated");
    }
    const LogEntries::Line placed{row % 3 == 0 ? "stdout" : "stderr", 1, row * 1000, row % 7 == 6,
                                  &fields};
    demand(entries.place(placed, row) <= row, "an entry that begins later");
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return 0;
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_log_lines(teller::fuzz::text_of(data, size));
}
