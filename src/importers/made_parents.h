// Folders that are made on the way to an output, and should be gone if nothing came of it.
#pragma once

#include <string>
#include <vector>

namespace teller {

// Remembers which folders above `output` are not there yet. At its end it removes those of them
// that are empty then: after a success none is.
class MadeParents {
 public:
  explicit MadeParents(const std::string& output);
  ~MadeParents();
  MadeParents(const MadeParents&) = delete;
  MadeParents& operator=(const MadeParents&) = delete;

 private:
  std::vector<std::string> missing_;  // innermost first
};

}  // namespace teller
