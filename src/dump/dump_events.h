// Prints event files.
#pragma once

#include <iosfwd>
#include <string>

#include "dump/dump.h"

namespace teller {

// Prints META, damage, and the events of one event file; `shown_name` stands for it in the output.
Status dump_event_file(const std::string& path, const std::string& shown_name,
                       const DumpOptions& options, std::ostream& out);

}  // namespace teller
