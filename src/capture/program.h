// Finds the program to run, as a shell would.
#pragma once

#include <string>

namespace teller::capture {

struct Program {
  std::string path;   // to hand to execve; "" if there is none
  int exit_code = 0;  // 126 or 127 if it cannot be run
  std::string error;  // why, for people
};

// Looks `name` up: a path if it holds a slash, else in PATH.
Program find_program(const std::string& name, const char* path_variable);

// The folder of teller's own parts and whether they are there.
struct Parts {
  std::string library;       // libteller_collector.so, "" if not found
  std::string python_hooks;  // folder with sitecustomize.py, "" if not found
};

// Finds the native library and the Python hooks beside the executable (build tree or installed), or
// under TELLER_ROOT.
Parts find_parts();

}  // namespace teller::capture
