#include "procfs/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "procfs/procfs.h"

namespace teller {

namespace {

constexpr std::size_t kMostDescriptors = 1u << 16;

Descriptor read_descriptor(std::int64_t pid, int fd) {
  Descriptor one;
  one.fd = fd;
  const std::string base = "/proc/" + std::to_string(pid);
  std::array<char, PATH_MAX> path{};
  const ssize_t size =
      readlink((base + "/fd/" + std::to_string(fd)).c_str(), path.data(), path.size());
  if (size > 0) one.target.assign(path.data(), static_cast<std::size_t>(size));
  const std::string info = read_proc_file(base + "/fdinfo/" + std::to_string(fd));
  const int flags = static_cast<int>(std::strtol(status_field(info, "flags").c_str(), nullptr, 8));
  one.writable = (flags & O_ACCMODE) != O_RDONLY && !info.empty();
  one.position = std::strtoull(status_field(info, "pos").c_str(), nullptr, 10);
  return one;
}

}  // namespace

std::vector<Descriptor> list_descriptors(std::int64_t pid, int* error) {
  std::vector<Descriptor> list;
  if (error != nullptr) *error = 0;
  DIR* folder = opendir(("/proc/" + std::to_string(pid) + "/fd").c_str());
  if (folder == nullptr) {
    if (error != nullptr) *error = errno;
    return list;
  }
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (list.size() == kMostDescriptors) break;
    list.push_back(read_descriptor(pid, std::atoi(entry->d_name)));
  }
  closedir(folder);
  std::sort(list.begin(), list.end(),
            [](const Descriptor& a, const Descriptor& b) { return a.fd < b.fd; });
  return list;
}

std::uint64_t inode_of(const std::string& target) {
  const std::size_t open_mark = target.find(":[");
  if (open_mark == std::string::npos) return 0;
  return std::strtoull(target.c_str() + open_mark + 2, nullptr, 10);
}

}  // namespace teller
