// Activity records of CUPTI become device records of the ring. The layout of a record is fixed by
// the libcupti that is loaded, not by the header we were built with.
#pragma once

#include <cupti.h>

#include "preload/cuda_recorder.h"

namespace teller::collector {

// CUDA 12.0; records of older ones are laid out in ways that nobody has checked.
inline constexpr std::uint32_t kOldestCupti = 19;

// `end` is where the valid bytes of the record's buffer end: a record beyond is counted, not read.
// So are records of kinds that we do not know.
void record_activity(const CUpti_Activity* record, const std::uint8_t* end,
                     WaitBudget& budget) noexcept;

}  // namespace teller::collector
