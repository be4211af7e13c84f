#include "snapshot/log_tails.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "snapshot/secrets.h"

namespace teller::snapshot_detail {

namespace {

struct Tail {
  std::string text;
  bool cut = false;
};

// "" for what is no regular file.
Tail read_tail(const std::string& path) {
  Tail tail;
  struct stat info {};
  // Looked at first: opening a pipe or a terminal is felt by others.
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return tail;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return tail;
  const off_t begin = std::max<off_t>(0, info.st_size - static_cast<off_t>(kTailBytes));
  tail.text.resize(static_cast<std::size_t>(std::max<off_t>(0, info.st_size - begin)));
  const ssize_t count = pread(fd, tail.text.data(), tail.text.size(), begin);
  close(fd);
  tail.text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  tail.cut = begin > 0;
  return tail;
}

std::vector<std::string> lines_of(const Tail& tail) {
  std::string_view rest = tail.text;
  // The first line of a cut tail is seldom whole.
  if (tail.cut) rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::vector<std::string_view> lines;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
  }
  return redact_lines(lines);
}

bool is_known(const std::vector<LogTail>& tails, const std::string& path) {
  return std::any_of(tails.begin(), tails.end(),
                     [&](const LogTail& tail) { return tail.path == path; });
}

}  // namespace

void read_log_tails(const Process& process, const OpenFiles& open, Job& job,
                    std::vector<LogTail>& tails) {
  for (const Descriptor& file : open.files) {
    if (!file.writable || !file.target.starts_with("/")) continue;
    if (file.target.starts_with("/dev/") || file.target.starts_with("/memfd:")) continue;
    const std::string path = redact(file.target);
    if (is_known(tails, path)) continue;
    if (tails.size() == kMostLogFiles) {
      job.add_gap("logs", 0, "more than " + std::to_string(kMostLogFiles) + " files are open");
      return;
    }
    Tail tail =
        read_tail("/proc/" + std::to_string(process.pid) + "/fd/" + std::to_string(file.fd));
    if (tail.text.empty() || tail.text.find('\0') != std::string::npos) continue;
    const bool cut = tail.cut;
    tails.push_back({path, process.pid, cut, lines_of(tail)});
  }
}

}  // namespace teller::snapshot_detail
