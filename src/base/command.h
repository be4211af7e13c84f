// Runs another program, or a piece of our own work, in a child process that can neither hang nor
// crash us.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller {

struct CommandOutput {
  std::string out;         // stdout
  std::string err;         // stderr
  int exit_code = -1;      // -1: it did not end by itself
  bool timed_out = false;  // it was killed
  bool cut = false;        // it wrote more than was allowed, and was killed
};

// Path of a program on PATH, "" if there is none. Relative entries of PATH are left out.
std::string find_program(std::string_view name);

// Runs argv[0] (a path) with stdin closed and `variables` (NAME=VALUE) added to the environment,
// for at most `timeout_ms`; keeps at most `limit_bytes` of stdout and of stderr. Fails only if no
// process could be made. It dies with us.
Result<CommandOutput> run_command(const std::vector<std::string>& argv, int timeout_ms,
                                  std::size_t limit_bytes,
                                  const std::vector<std::string>& variables = {});

// Runs `work` in a forked child; what it returns is `out`. For work on what may be hostile. The
// caller must have no other threads.
Result<CommandOutput> run_isolated(const std::function<std::string()>& work, int timeout_ms,
                                   std::size_t limit_bytes);

}  // namespace teller
