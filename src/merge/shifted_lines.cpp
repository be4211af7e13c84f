#include "merge/shifted_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/mapped_file.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kWriteBytes = 1 << 20;

Status write_out(std::string& text, int fd, const std::string& path) {
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t done = write(fd, left.data(), left.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path, errno);
    left.remove_prefix(static_cast<std::size_t>(done));
  }
  text.clear();
  return {};
}

// Integers beyond int64 are unsigned for the parser.
bool add(const Json& time, std::int64_t shift_ns, std::int64_t* moved) {
  if (time.is_number_unsigned() && time.get<std::uint64_t>() >> 63 != 0) return false;
  return !__builtin_add_overflow(time.get<std::int64_t>(), shift_ns, moved);
}

void shift(Json& line, const ShiftRequest& request, ShiftCounts& counts) {
  for (const std::string_view key : request.times) {
    const auto found = line.find(key);
    if (found == line.end() || !found->is_number_integer()) continue;
    std::int64_t moved = 0;
    const bool fits = add(*found, request.shift_ns, &moved);
    *found = fits ? Json(moved) : Json();
    if (!fits) ++counts.out_of_range;
  }
  if (!request.host.empty() && !line.contains("host")) line["host"] = request.host;
}

}  // namespace

Result<ShiftCounts> append_shifted(const ShiftRequest& request, int fd, const std::string& path) {
  TELLER_TRY(const MappedFile file, MappedFile::open(request.from, "lines of JSON"));
  ShiftCounts counts;
  std::string_view text = file.text();
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    Json line = parse_json(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.is_object()) {
      if (end > 0) ++counts.malformed;
      continue;
    }
    shift(line, request, counts);
    out += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    ++counts.lines;
    if (out.size() >= kWriteBytes) TELLER_CHECK_OK(write_out(out, fd, path));
  }
  TELLER_CHECK_OK(write_out(out, fd, path));
  return counts;
}

}  // namespace teller
