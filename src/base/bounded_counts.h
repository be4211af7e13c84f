// Counts by text that outputs can hold: files decide how many texts there are, and how long.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace teller {

using CountsByText = std::map<std::string, std::uint64_t>;

// Counts kept apart in one output, and the longest text among them in bytes.
inline constexpr std::size_t kMostCounts = 1024;
inline constexpr std::size_t kMostCountText = 256;
inline constexpr const char* kOtherCounts = "(other)";

// The counts with the highest numbers (equal ones: by text), at most kMostCounts of them; all
// others, and those of longer texts, are together in one under kOtherCounts. The sum stays the
// same.
CountsByText bounded_counts(CountsByText counts);

}  // namespace teller
