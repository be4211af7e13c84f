// One or two sentences on what is wrong with a step.
#pragma once

#include <string>

#include "run_folder/labels.h"
#include "simulate/stack.h"

namespace teller::simulate {

// Of a cause step: names step, operators, requests and the mechanism in words.
std::string explain(const Fault& fault, const StepLabel& label, const StepOutcome& outcome);

}  // namespace teller::simulate
