// `teller trigger`: asks the recorder of a run to write its window.
#pragma once

#include <string>

#include "teller/result.h"

namespace teller::capture {

// Returns the path of the run folder that was written. Fails if `run` is not being recorded with
// --last, if its recorder cannot be reached, or if it does not answer within `timeout_s`.
Result<std::string> trigger_window(const std::string& run, const std::string& reason,
                                   double timeout_s);

}  // namespace teller::capture
