// The order of names that people expect.
#pragma once

#include <string_view>

namespace teller {

// Whether `a` stands before `b`: runs of digits compare as numbers, else byte by byte.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace teller
