// A process's modules as libdw sees them; only native_stack.cpp and live_environment.cpp know
// libdw.
#pragma once

#include <elfutils/libdwfl.h>
#include <sys/types.h>

#include <memory>

namespace teller::snapshot_detail {

using DwflSession = std::unique_ptr<Dwfl, decltype(&dwfl_end)>;

// Null if the modules cannot be read: dwfl_errmsg(-1) says why. Opens regular files only, and never
// looks for debug files elsewhere (that may ask servers on the network).
DwflSession open_modules(pid_t pid);

// Reads `size` bytes at `address` of the process; false if they are not there, or may not be read.
bool read_remote(pid_t pid, std::uint64_t address, void* into, std::size_t size);

}  // namespace teller::snapshot_detail
