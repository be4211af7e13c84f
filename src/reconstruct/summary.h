// Says what reconstruct made of a run. Private to reconstruct/.
#pragma once

#include <cstddef>
#include <vector>

#include "reconstruct/reconstruct.h"
#include "reconstruct/roles.h"
#include "reconstruct/workspace.h"

namespace teller {

struct RoleFindings {
  const RoleTable& table;
  const std::vector<RoleEntry>& entries;
  std::size_t file_bytes;  // of roles.json
};

// Balance, counters, coverage and notes of a finished reconstruction. Fails if the balance of a
// source does not add up, which would be a defect of teller.
Result<ReconstructSummary> summarise(const RunFolder& run, const Workspace& work,
                                     const RecordBalance& logs, const RoleFindings& roles);

}  // namespace teller
