// Counts of a run, per source file and in total, straight from its events.
#pragma once

#include <string>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct RunStats {
  std::string json;
  std::string text;
};

// Counts the events of `run`; adds the balance and coverage of its reconstruction if it has one.
Result<RunStats> stats(const RunFolder& run);

}  // namespace teller
