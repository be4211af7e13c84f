// Messages to people on stderr: "teller: warning: …". The only place that sees spdlog.
#pragma once

#include <string_view>

namespace teller {

// How much is said. kQuiet: errors only; kNormal: warnings and hints too; kVerbose: what is being
// done as well.
enum class Verbosity { kQuiet, kNormal, kVerbose };

void set_verbosity(Verbosity verbosity);

void log_info(std::string_view message);     // what is being done (-v)
void log_hint(std::string_view message);     // what to do next
void log_warning(std::string_view message);  // the result may be affected

}  // namespace teller
