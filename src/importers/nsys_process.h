// Whose device rows are that name no process.
#pragma once

#include <cstdint>

#include "importers/nsys_database.h"

namespace teller {

// The process that made all CUDA calls of the file; 0 if they are of several, or there are none.
// Exports of early versions have no `globalPid`: correlation ids are those of that process then.
std::int64_t only_calling_process(const NsysDatabase& database);

}  // namespace teller
