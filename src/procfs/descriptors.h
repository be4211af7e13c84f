// The open files of a process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace teller {

struct Descriptor {
  int fd = -1;
  std::string target;     // path, "socket:[inode]", "pipe:[inode]", "anon_inode:[eventpoll]", …
  bool writable = false;  // opened for writing
  std::uint64_t position = 0;  // offset in the file
};

// Ascending by number; empty where they may not be seen (`error` is set to errno, or 0). Looking
// changes nothing in the process.
std::vector<Descriptor> list_descriptors(std::int64_t pid, int* error = nullptr);

// The inode in "socket:[123]" or "pipe:[123]"; 0 if `target` names none.
std::uint64_t inode_of(const std::string& target);

}  // namespace teller
