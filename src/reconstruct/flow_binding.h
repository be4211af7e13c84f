// Hangs device activities that no id ties to a call under the call that an arrow ("ac2g") comes
// from. Private to reconstruct/.
#pragma once

#include <cstdint>
#include <vector>

#include "reconstruct/workspace.h"

namespace teller {

// Sets the parents of those of `activities` (items of one source without a parent) at which a flow
// from a host thread ends, and returns them. The parent is the call around the flow's begin, or the
// innermost range where no call is there.
std::vector<std::uint32_t> bind_by_flows(Workspace& work, std::uint16_t source,
                                         std::vector<std::uint32_t> activities);

}  // namespace teller
