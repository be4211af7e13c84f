#include "logs/entries.h"

#include <algorithm>

#include "logs/text.h"

namespace teller {

namespace {

// A line that comes later than this after another is not its continuation.
constexpr std::int64_t kTogetherNs = 1'000'000'000;
constexpr std::uint32_t kMaxBlockLines = 200;
constexpr std::string_view kTraceback = "Traceback (most recent call last)";

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> fronts) {
  return std::any_of(fronts.begin(), fronts.end(),
                     [&](std::string_view front) { return text.starts_with(front); });
}

bool is_indented(std::string_view message) {
  return message.empty() || message.front() == ' ' || message.front() == '\t' ||
         message.front() == '\r';
}

bool is_frame(std::string_view message) {
  const std::size_t begin = message.find_first_not_of(" \t");
  return begin != std::string_view::npos && begin > 0 &&
         message.substr(begin).starts_with("File \"");
}

// What CUDA, PyTorch and C++ print behind an error.
bool explains_error(std::string_view message) {
  return begins_with_any(
      message, {"CUDA kernel errors might be", "For debugging consider passing CUDA_LAUNCH",
                "Compile with `", "Device-side assertion tracking", "Search for `cuda",
                "Exception raised from ", "frame #", "HIP kernel errors might be"});
}

bool chains_exception(std::string_view message) {
  return begins_with_any(message, {"During handling of the above exception",
                                   "The above exception was the direct cause"});
}

// "torch.OutOfMemoryError: …", "KeyboardInterrupt": one dotted name, then nothing or a colon.
bool is_exception(std::string_view message) {
  const std::string_view name = message.substr(0, message.find(':'));
  return !name.empty() && name.size() < 160 && !is_digit(name.front()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_word(c) || c == '.'; });
}

bool is_rule(std::string_view message) {
  return message.size() >= 20 &&
         std::all_of(message.begin(), message.end(), [](char c) { return c == '='; });
}

// Tells processes and ranks of one stream apart; 0 for lines that name none.
std::int64_t speaker(const LogFields& fields) {
  if (!fields.named) return 0;
  if (fields.pid >= 0) return fields.pid + 1;
  const std::int32_t rank = fields.ranks.global >= 0 ? fields.ranks.global : fields.ranks.local;
  return rank >= 0 ? -1 - std::int64_t{rank} : 0;
}

}  // namespace

LogEntries::State LogEntries::first_state(const LogFields& fields) {
  if (fields.message.find(kTraceback) != std::string_view::npos || is_frame(fields.message)) {
    return State::kFrames;
  }
  return fields.level == "ERROR" || fields.level == "CRITICAL" ? State::kAfter : State::kPlain;
}

// Every rule looks at the line and at what came before it only, so that streams can be of any
// length.
bool LogEntries::advance(std::string_view message, Open& open) {
  if (open.state == State::kBlock && open.block_lines++ < kMaxBlockLines) {
    if (is_rule(message)) open.state = State::kAfter;
    return true;
  }
  if (is_indented(message)) {
    if (is_frame(message)) open.state = State::kFrames;
    return true;
  }
  if (message.starts_with(kTraceback)) {
    // logging.exception() prints the traceback behind its message.
    const bool of_message = open.error && open.headed && open.state == State::kAfter;
    if (open.state != State::kChained && !of_message) return false;
    open.state = State::kFrames;
    open.headed = false;
    return true;
  }
  if (open.state == State::kFrames && is_exception(message)) {
    open.state = State::kAfter;
    return true;
  }
  if (open.state == State::kAfter && chains_exception(message)) {
    open.state = State::kChained;
    return true;
  }
  if (open.state == State::kAfter && is_rule(message)) {
    open.state = State::kBlock;
    open.block_lines = 0;
    return true;
  }
  return open.error && explains_error(message);
}

bool LogEntries::goes_on(const Line& line, Open& open) {
  if (line.rest) return true;
  const LogFields& fields = *line.fields;
  const bool timed = line.time_ns >= 0 && open.last_ns >= 0;
  if (timed && line.time_ns - open.last_ns > kTogetherNs) return false;
  const bool formatted = fields.format != LogFormat::kNone;
  // vLLM repeats its whole prefix before each line of one message.
  if (formatted &&
      (fields.source.empty() || fields.source != open.source || fields.level != open.level)) {
    return false;
  }
  return advance(fields.message, open);
}

std::uint32_t LogEntries::place(const Line& line, std::uint32_t row) {
  const LogFields& fields = *line.fields;
  Stream& stream = streams_[{line.owner, std::string(line.stream)}];
  const std::int64_t who = line.rest || !fields.named ? stream.last : speaker(fields);
  const auto found = stream.open.find(who);
  if (found != stream.open.end() && goes_on(line, found->second)) {
    found->second.last_ns = line.time_ns;
    stream.last = who;
    return found->second.row;
  }
  const std::int64_t own = speaker(fields);
  Open& open = stream.open[own];
  open = Open{};
  open.row = row;
  open.last_ns = line.time_ns;
  open.state = first_state(fields);
  open.error = fields.level == "ERROR" || fields.level == "CRITICAL";
  open.level = fields.level;
  open.source = fields.source;
  open.headed = fields.format != LogFormat::kNone;
  stream.last = own;
  return row;
}

}  // namespace teller
