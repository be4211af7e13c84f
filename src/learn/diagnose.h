// Diagnosis of one run, and evaluation over labelled ones.
#pragma once

#include "learn/learn.h"

namespace teller::learn_detail {

Result<JsonResult> diagnose_run(RunFolder& run, const DiagnoseOptions& options);
Result<JsonResult> evaluate_runs(const EvalOptions& options);

}  // namespace teller::learn_detail
