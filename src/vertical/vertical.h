// What the steps of a process show by rules, without a model: how long the device stands idle in
// them, and what the host does meanwhile; and what work of it never ends. docs/device_idle.md.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// Adds `device_idle` to a diagnosis of a run with current chains, and says in its explanation and
// evidence what starves the device if something does. `device_idle` is null where no step uses one.
Result<nlohmann::ordered_json> with_device_idle(const RunFolder& run,
                                                nlohmann::ordered_json diagnosis);
// Adds `stalled_streams`: streams of a device that stand still, each with the work that does not
// end. Where there are some the run is abnormal, whatever the model says of its steps.
Result<nlohmann::ordered_json> with_stalled_work(const RunFolder& run,
                                                 nlohmann::ordered_json diagnosis);
// Publishes that diagnosis in place of the one that is there.
Status publish_with_device_idle(RunFolder& run, const nlohmann::ordered_json& diagnosis);

}  // namespace teller
