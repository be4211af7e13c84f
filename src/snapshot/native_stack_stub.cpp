// Where libdw was not found while building.
#include "snapshot/live_environment.h"
#include "snapshot/native_stack.h"

namespace teller::snapshot_detail {

bool has_native_stacks() {
  return false;
}

Result<std::map<std::int64_t, Stack>> native_stacks(const Process&, int) {
  return Error{ErrorCode::kUnsupported, "teller was built without libdw",
               "install libdw-dev and build teller again"};
}

void add_live_environment(Process&, int) {}

}  // namespace teller::snapshot_detail
