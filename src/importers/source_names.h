// What artefacts call the sources of a run, and the files made of them.
#pragma once

#include <string>
#include <vector>

#include "importers/input_list.h"

namespace teller {

// The last part of a path.
std::string last_part(const std::string& path);
// A name for each input: the last part of its path or of its name in an archive, with as many of
// the folders before it as keep it apart from the others.
std::vector<std::string> source_names(const std::vector<InputFile>& inputs);
// "events/3.name.tev": the number keeps equal names apart. At most 100 bytes of the name are used,
// never a part of a character.
std::string event_file_name(std::size_t index, const std::string& name);

}  // namespace teller
