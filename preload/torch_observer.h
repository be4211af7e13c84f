// Records PyTorch's operators through its own observers (at::RecordFunction), without linking to
// it.
#pragma once

namespace teller::collector {

// From now on every operator and every node of autograd, on every thread, is a range of category
// BE. `version` is torch.__version__. Returns "on", or why not, for people; a second call changes
// nothing. The lifetime of the text is the process's. [MT]
const char* observe_torch(const char* version) noexcept;

}  // namespace teller::collector
