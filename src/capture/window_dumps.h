// Run folders that triggers make, each written by a forked child, so that the recorder goes on
// draining meanwhile.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "capture/triggers.h"
#include "teller/result.h"

namespace teller::capture {

// Not thread-safe.
class WindowDumps {
 public:
  // Writes below `folder` (made at the first), numbered from 1. At most `keep` stay: the oldest is
  // removed for the next.
  WindowDumps(std::string folder, std::size_t keep) : folder_(std::move(folder)), keep_(keep) {}

  struct Written {
    std::string name;  // of its folder, "0001-log"
    Trigger trigger;
    std::string error;  // "" = it is there
  };

  bool busy() const { return child_ > 0; }
  // Begins to write. `write` runs in a child, with the path of a folder that does not exist.
  void start(Trigger trigger, const std::function<Status(const std::string&)>& write);
  // Whether the one that is being written is done; waits for it if `wait`. Those who asked for it
  // are answered.
  bool take_written(Written* written);
  // Waits for it; one that takes longer than `limit_ms` is given up.
  bool wait_written(int limit_ms, Written* written);
  // Names of those that are there, oldest first.
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::string path_of(const std::string& name) const { return folder_ + "/" + name; }
  Status write_in_child(const std::string& name, const std::vector<std::string>& surplus,
                        const std::function<Status(const std::string&)>& write) const;

  std::string folder_;
  std::size_t keep_;
  std::size_t next_ = 1;
  std::vector<std::string> names_;
  pid_t child_ = -1;
  int report_ = -1;  // what went wrong in the child arrives here
  Written pending_;
};

}  // namespace teller::capture
