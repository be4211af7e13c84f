// Checks of options that CLI11 lacks.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace teller::cli {

// A number from `least` to `most`, both included. CLI::Range takes NaN for one, and prints bounds
// of up to 300 digits.
inline CLI::Validator between(double least, double most) {
  const auto check = [least, most](const std::string& text) {
    double value = 0;
    const bool number = CLI::detail::lexical_cast(text, value);
    if (number && value >= least && value <= most) return std::string();
    return "'" + text.substr(0, 100) + "' is no number from " + CLI::detail::to_string(least) +
           " to " + CLI::detail::to_string(most);
  };
  return {check, "", "between"};
}

}  // namespace teller::cli
