// The version of this build of teller.
#pragma once

namespace teller {

inline constexpr const char* kVersion = TELLER_VERSION;

}  // namespace teller
