// Stacks from other tools, and how native and Python stacks become one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "snapshot/facts.h"
#include "teller/result.h"

namespace teller::snapshot_detail {

// A thread as py-spy shows it.
struct PythonThread {
  std::string name;
  bool owns_gil = false;
  Stack stack;
};

// What `py-spy dump --json` prints, by thread id. Native frames (of --native) stand among the
// others. An Error if it is not that.
Result<std::map<std::int64_t, PythonThread>> parse_pyspy(std::string_view json);
// Runs it. With `pause` the process stands still for some milliseconds, and native frames come too.
Result<std::map<std::int64_t, PythonThread>> pyspy_stacks(const std::string& program,
                                                          const Process& process, bool pause,
                                                          int timeout_ms);

// What gdb's "thread apply all backtrace" prints, by thread id.
std::map<std::int64_t, Stack> parse_gdb(std::string_view text);
// Runs it: the process stands still for as long as gdb reads symbols.
Result<std::map<std::int64_t, Stack>> gdb_stacks(const std::string& program, const Process& process,
                                                 int timeout_ms);

// Whether the frame is of CPython's loop over byte code.
bool is_interpreter(const Frame& frame);

// The native frames above the interpreter, then the Python frames. Without Python frames: all of
// `native`.
Stack merge_stacks(const Stack& native, const Stack& python);

}  // namespace teller::snapshot_detail
