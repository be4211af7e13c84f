// Single values of NVTX payloads as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace teller::capture {

// Bytes of a value of a predefined type, which are also its alignment; 0 for a type that is none or
// has no fixed size.
std::size_t size_of_type(std::uint64_t type);

// Bytes of a character of a string type; 0 for any other type.
std::size_t character_size(std::uint64_t type);

// A value of that type from the front of `bytes`, which holds at least size_of_type(type).
nlohmann::ordered_json scalar_value(std::uint64_t type, std::string_view bytes);

// A whole number from the front of `bytes` (1, 2, 4 or 8 of them); nothing if they are not there.
std::optional<std::uint64_t> whole_number(std::string_view bytes, std::size_t size);

// Characters of `size` bytes each as UTF-8, up to the first zero.
std::string text_value(std::string_view bytes, std::size_t size);

std::string hex_number(std::uint64_t number);

}  // namespace teller::capture
