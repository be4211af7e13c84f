// `teller hooks`: its work is done by the Python part of the hooks, in the Python that is asked
// about.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/command.h"
#include "base/terminal.h"
#include "capture/capture.h"
#include "capture/program.h"

namespace teller::capture {

namespace {

// Imports nothing but the standard library (-I -S): what is asked about is read, never run. The
// last line tells a Python from a program that ignores its arguments, or prints them.
constexpr const char* kScript =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from teller_hooks.check import main; "
    "code = main(); print(chr(30) + 'done'); sys.stdout.flush(); sys.exit(code)";
constexpr std::string_view kDone =
    "\x1e"
    "done\n";
constexpr int kLimitMs = 300000;
constexpr std::size_t kLimitBytes = 64u << 20;

Error no_answer(const std::string& python, const CommandOutput& output) {
  const std::string action = "running teller hooks with " + printable(python) + ": ";
  if (output.timed_out) {
    return {ErrorCode::kInternal, action + "it gave no answer within five minutes",
            "is --python a Python, and its packages' disk at hand?"};
  }
  return {ErrorCode::kUsage, action + "it did not answer as a Python does",
          "name a Python of 3.9 or later with --python"};
}

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
  std::vector<std::string> argv{program.path, "-I", "-S", "-B", "-c", kScript, parts.python_hooks};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  TELLER_TRY(const CommandOutput output, run_command(argv, kLimitMs, kLimitBytes));
  std::fwrite(output.err.data(), 1, output.err.size(), stderr);
  const std::string_view text = output.out;
  if (!text.ends_with(kDone)) return no_answer(python, output);
  const std::string_view answer = text.substr(0, text.size() - kDone.size());
  std::fwrite(answer.data(), 1, answer.size(), stdout);
  return output.exit_code;
}

}  // namespace teller::capture
