// The operator family of a name: the name without its volatile parts, used for statistics and
// tokens. The rules and their reasons are in docs/reconstruct.md.
#pragma once

#include <string>
#include <string_view>

namespace teller {

// Returns the family of `name`. Deterministic and linear in the name's length.
std::string family_of(std::string_view name);

// `name` demangled, where it is a mangled name that can be; else as it is.
std::string plain_name(std::string_view name);

// Splits " request=<id>" off the end of `name`. Returns the id, "" if there is none.
std::string_view split_request(std::string_view& name);

}  // namespace teller
