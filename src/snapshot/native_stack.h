// Native stacks of threads that wait, by libdw, without stopping them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "snapshot/facts.h"
#include "teller/result.h"

namespace teller::snapshot_detail {

// Most frames of a stack.
inline constexpr std::size_t kMostFrames = 128;

// Whether teller was built with libdw.
bool has_native_stacks();

// Stacks of the process's threads by thread id, unwound from the stack and program counters of
// their last samples through /proc/<pid>/mem. A thread that runs has none. Callee-saved registers
// are not known without stopping a thread, so a stack may end early. Runs in a child process: the
// files that the process maps are not trusted.
Result<std::map<std::int64_t, Stack>> native_stacks(const Process& process, int timeout_ms);

// "ns::f(int)" from a mangled name, without parameters and with template arguments cut.
std::string short_name(const std::string& symbol);

}  // namespace teller::snapshot_detail
