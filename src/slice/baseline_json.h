// Entries of baseline files as JSON and back.
#pragma once

#include "slice/baseline_file.h"
#include "teller/result.h"

namespace teller::slice_detail {

Json entry_json(const BaselineEntry& entry);

// An Error that says which value of the entry is wrong.
Result<BaselineEntry> read_entry(const Json& json);

}  // namespace teller::slice_detail
