// CUPTI's times as times of CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

namespace teller::collector {

// Makes CUPTI ask us for the time; where it cannot, measures how far its clock is from ours. Before
// any activity is enabled.
void start_cupti_clock() noexcept;

// Measures the offset again, so that drift is followed; nothing where CUPTI asks us. [MT]
void follow_cupti_clock() noexcept;

// A time of CUPTI's on our clock; 0, which CUPTI writes for "not known", stays 0. [MT]
std::uint64_t host_time(std::uint64_t cupti_ns) noexcept;

}  // namespace teller::collector
