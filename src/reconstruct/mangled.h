// What a mangled C++ name says of itself where it can't be demangled: because it is too long, or
// has types that the C++ library does not know. Private to reconstruct/ and its tests.
#pragma once

#include <string>
#include <string_view>

namespace teller {

struct MangledOutline {
  std::string name;      // "ck_tile::kentry"; "" for what is no mangled name
  std::string argument;  // the first template argument that has a name: "Rmsnorm2dFwd"; or ""
};

// Reads the names at the beginning of `mangled`, nothing else. Linear in its length.
MangledOutline outline_of(std::string_view mangled);

}  // namespace teller
