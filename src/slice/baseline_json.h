// Entries of baseline files as JSON and back.
#pragma once

#include "slice/baseline_file.h"
#include "teller/result.h"

namespace teller::slice_detail {

// Bytes of the longest text that a file may hold.
inline constexpr std::size_t kLongestText = 65'536;

Json entry_json(const BaselineEntry& entry);

// An Error that says which value of the entry is wrong.
Result<BaselineEntry> read_entry(const Json& json);

}  // namespace teller::slice_detail
