// What NCCL, PyTorch and the GPU driver can say of the job from outside of its processes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "snapshot/details.h"
#include "snapshot/facts.h"
#include "snapshot/snapshot.h"

namespace teller::snapshot_detail {

// What nvidia-smi says of the GPUs and of the job's processes on them; null where there is none.
nlohmann::ordered_json gpu_json(Job& job);

// NCCL's RAS service, if a process of the job offers it on this host: its text, untrusted and
// redacted; null where there is none. Takes two seconds at most.
nlohmann::ordered_json ras_json(Job& job, const std::vector<OpenFiles>& open);
// One exchange with the service at 127.0.0.1:`port`. "" if it is no RAS service or does not answer.
std::string ask_ras(int port, int timeout_ms);

// A dump of PyTorch's flight recorder.
struct FlightRecord {
  std::int64_t pid = 0;
  std::string from;  // where it was
  std::string file;  // in the run folder
};
// Copies dumps that the job's processes have written since they were started, at most 16 MiB each,
// into `folder`/flight/. They are Python pickles: they are copied and never read. With
// `trigger`, first asks for one through TORCH_NCCL_DEBUG_INFO_PIPE_FILE.
std::vector<FlightRecord> copy_flight_records(const std::string& folder, bool trigger, Job& job);

}  // namespace teller::snapshot_detail
