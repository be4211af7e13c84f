// `teller hooks`: its work is done by the Python part of the hooks, in the Python that is asked
// about.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "capture/capture.h"
#include "capture/program.h"

namespace teller::capture {

namespace {

// Imports nothing but the standard library (-I -S): what is asked about is read, never run.
constexpr const char* kScript =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from teller_hooks.check import main; "
    "sys.exit(main())";

}  // namespace

Result<int> run_hooks_tool(const std::string& python, const std::vector<std::string>& arguments) {
  const Parts parts = find_parts();
  if (parts.python_hooks.empty()) {
    return Error{ErrorCode::kNotFound, "running teller hooks: the Python hooks were not found",
                 "they belong beside the program, or under TELLER_ROOT"};
  }
  const Program program = find_program(python, std::getenv("PATH"));
  if (program.path.empty()) {
    return Error{ErrorCode::kNotFound, program.error, "name a Python with --python"};
  }
  std::vector<std::string> argv{python, "-I", "-S", "-B", "-c", kScript, parts.python_hooks};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& argument : argv) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  std::fflush(nullptr);
  execv(program.path.c_str(), pointers.data());
  return Error{ErrorCode::kInternal, "running " + python + ": " + std::strerror(errno), ""};
}

}  // namespace teller::capture
