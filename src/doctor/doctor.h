// The stage `doctor`: says what could be traced on this machine, and what is missing. The only
// header of this folder that others include. Every check: docs/cli.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace teller {

struct DoctorOptions {
  std::string executable;    // of teller
  std::string library;       // libteller_collector.so, "" if not found
  std::string python_hooks;  // folder with sitecustomize.py, "" if not found
};

// {"format": "teller.doctor", "can_trace": …, "checks": [{name, status, detail, hint}, …]}. A
// status is "ok", "warning" or "missing"; can_trace is false where something that tracing needs is
// missing. Takes a small trace in a temporary folder, which it removes.
nlohmann::ordered_json examine(const DoctorOptions& options);
// The same as lines for people.
std::string doctor_text(const nlohmann::ordered_json& document);

// What the small trace runs: calls the tool of NVTX_INJECTION64_PATH as NVTX would, with ranges.
// Returns the exit code.
int run_nvtx_client();

}  // namespace teller
