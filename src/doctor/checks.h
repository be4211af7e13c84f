// What the checks of teller doctor share.
#pragma once

#include <string>
#include <vector>

#include "doctor/doctor.h"

namespace teller::doctor_detail {

enum class CheckStatus { kOk, kWarning, kMissing };

struct Check {
  std::string name;
  CheckStatus status = CheckStatus::kOk;
  std::string detail;
  std::string hint;       // what to do; "" = nothing
  bool required = false;  // without it tracing cannot work
};
using Checks = std::vector<Check>;

// One line of `text`, at most 200 bytes.
std::string first_line(const std::string& text);

// Collector, hooks, a small trace, shared memory, limits, disk.
void check_tracing(const DoctorOptions& options, Checks& checks);
// Python, engines.
void check_python(const DoctorOptions& options, Checks& checks);
// CUPTI, NVML.
void check_gpu(Checks& checks);
// ptrace, py-spy, gdb, clock, cgroup, containers.
void check_machine(Checks& checks);

}  // namespace teller::doctor_detail
