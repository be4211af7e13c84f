// Finds the program to run, as a shell would.
#pragma once

#include <string>

#include "capture/capture.h"

namespace teller::capture {

struct Program {
  std::string path;   // to hand to execve; "" if there is none
  int exit_code = 0;  // 126 or 127 if it cannot be run
  std::string error;  // why, for people
};

// Looks `name` up: a path if it holds a slash, else in PATH.
Program find_program(const std::string& name, const char* path_variable);

}  // namespace teller::capture
