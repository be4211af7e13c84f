// Which functions of libraries wait for what.
#pragma once

#include <optional>

#include "snapshot/waits.h"

namespace teller::snapshot_detail {

// What a thread in this function of a library waits for; nothing for others.
std::optional<WaitKind> wait_in(const Frame& frame);
// Whether a Python frame is of the standard library or of an installed package.
bool in_library(const Frame& frame);
// Whether the stack is that of a library's thread that waits for work.
bool in_idle_loop(const Stack& stack);

}  // namespace teller::snapshot_detail
