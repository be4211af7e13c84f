// Files that are being written beside their place (NAME.PID.part): a signal that ends the program
// takes them away.
#pragma once

#include <string>

namespace teller {

// Remembers a file that is under way. The last 64 are known; for several threads.
void note_part_file(const std::string& path);

// From now on SIGINT, SIGTERM and SIGHUP, where they would end the program, remove the files that
// are under way first. Signals that are ignored or handled are left alone.
void remove_part_files_at_signals();

}  // namespace teller
