// Opens libteller_learn.so, which holds the model and needs LibTorch.
#pragma once

#include <string>

#include "learn/learn.h"
#include "teller/result.h"

namespace teller::cli {

// That --threads of the model's commands may ask for.
inline constexpr int kMostThreads = 1024;

// The library's door; opened once. An Error that says what to do where it is not there, or cannot
// be loaded. It is looked for beside the executable, in ../learn (build tree) and in ../lib/teller.
Result<Learn*> load_learn();

// The model to use: `given`, or $TELLER_MODEL, or models/default of the installation or source
// tree.
Result<std::string> find_model(const std::string& given);

// Folder of the running executable.
std::string executable_folder();

}  // namespace teller::cli
