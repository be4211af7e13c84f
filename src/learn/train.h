// Training of a bundle.
#pragma once

#include "learn/learn.h"

namespace teller::learn_detail {

Result<JsonResult> train_model(const TrainOptions& options);

}  // namespace teller::learn_detail
