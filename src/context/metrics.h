// The text in which engines show their metrics (Prometheus), and which of it is kept. Private to
// context/ and its tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "context/host.h"

namespace teller {

// Reads the exposition format. The record has `engine` ("vllm", "sglang" or ""), `series` (name
// with its labels -> number; null where it is no finite one), `other_series` (not kept) and, if
// there are any, `broken_lines`. At most 4096 series are kept; names and labels over 1 KiB are not.
ContextRecord read_metrics(std::string_view text, bool all_series);

}  // namespace teller
