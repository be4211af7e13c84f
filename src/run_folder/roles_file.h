// What the writer and the readers of roles.json agree on.
#pragma once

#include <cstdint>

namespace teller {

// Readers take no larger roles.json; who writes one must say so.
inline constexpr std::uint64_t kMostRolesBytes = 256u << 20;

}  // namespace teller
