// What an import does where there is not enough memory: it says so in one line, and leaves nothing.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "teller/result.h"

namespace teller {

// The exception that is being handled, as an error: "ACTION: there is not enough memory for it".
// To be called in a catch block only.
Error thrown_error(const std::string& action);

// While it lives, some address space is set aside; nothing of it is touched. The first allocation
// that fails gives it back, and fails all the same: what is cleaned up then needs a little memory
// itself. Where that is in a destructor (a tree of JSON moves its values to a list to destroy them)
// nobody can catch what is thrown: then the program ends here, with the same line and exit code,
// and `folder` is removed. One at a time.
class OutOfMemoryGuard {
 public:
  // `action` is what is told to have failed.
  OutOfMemoryGuard(const std::string& action, const std::string& folder);
  ~OutOfMemoryGuard();
  OutOfMemoryGuard(const OutOfMemoryGuard&) = delete;
  OutOfMemoryGuard& operator=(const OutOfMemoryGuard&) = delete;

 private:
  std::string action_;
  std::string folder_;
  std::new_handler new_before_;
};

}  // namespace teller
