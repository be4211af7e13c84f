// Reads times that a trace writes as decimal microseconds into whole nanoseconds, exactly: a double
// would change almost every time stamp of a long-running host.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace teller {

// `text` is a decimal number of microseconds ("12", "-3.25", "1.5e3"); returns it in nanoseconds,
// digits below one nanosecond cut off (toward zero). Nothing if it is no number or does not fit.
std::optional<std::int64_t> decimal_us_to_ns(std::string_view text);

}  // namespace teller
