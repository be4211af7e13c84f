// Libraries of NVIDIA, opened in child processes: they start threads, and may fail hard.
#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "base/command.h"
#include "doctor/checks.h"

namespace teller::doctor_detail {

namespace {

constexpr int kTimeoutMs = 20000;
constexpr std::size_t kMostBytes = 1u << 16;
constexpr const char* kCuptiNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

template <typename F>
F function_of(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

// "<library> API <version>", "" if there is none.
std::string look_at_cupti() {
  const char* named = std::getenv("TELLER_CUPTI");
  for (const char* name : {named, kCuptiNames[0], kCuptiNames[1], kCuptiNames[2]}) {
    void* library = name == nullptr ? nullptr : dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto get_version = function_of<int (*)(std::uint32_t*)>(library, "cuptiGetVersion");
    std::uint32_t version = 0;
    if (get_version == nullptr || get_version(&version) != 0) continue;
    return std::string(name) + ", API version " + std::to_string(version);
  }
  return "";
}

// "driver 550.54, 8 GPUs"; "!" and the reason if it does not work; "" if there is no library.
std::string look_at_nvml() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return "";
  const auto start = function_of<int (*)()>(library, "nvmlInit_v2");
  const auto driver = function_of<int (*)(char*, unsigned)>(library, "nvmlSystemGetDriverVersion");
  const auto count = function_of<int (*)(unsigned*)>(library, "nvmlDeviceGetCount_v2");
  if (start == nullptr || driver == nullptr || count == nullptr) return "!it lacks functions";
  if (const int code = start(); code != 0) return "!nvmlInit answers " + std::to_string(code);
  std::array<char, 96> version{};
  unsigned devices = 0;
  driver(version.data(), version.size());
  count(&devices);
  return "driver " + std::string(version.data()) + ", " + std::to_string(devices) + " GPUs";
}

std::string isolated(std::string (*look)()) {
  const auto output = run_isolated([look] { return look(); }, kTimeoutMs, kMostBytes);
  if (!output || output->timed_out) return "!it did not answer in 20 s: the driver may hang";
  return output->exit_code == 0 ? output->out : "!opening it ended the process";
}

Check check_of(const char* name, const std::string& found, const char* absent, const char* hint) {
  if (found.empty()) return {name, CheckStatus::kMissing, absent, hint, false};
  if (found[0] == '!') return {name, CheckStatus::kWarning, found.substr(1), hint, false};
  return {name, CheckStatus::kOk, found, "", false};
}

}  // namespace

void check_gpu(Checks& checks) {
  checks.push_back(check_of("CUPTI", isolated(look_at_cupti), "libcupti was not found",
                            "for CUDA calls and kernels: CUDA toolkit or the wheel "
                            "nvidia-cuda-cupti, found by LD_LIBRARY_PATH or TELLER_CUPTI"));
  checks.push_back(check_of("NVML and driver", isolated(look_at_nvml),
                            "libnvidia-ml.so.1 was not found",
                            "without a driver there is no GPU to record; in a container: "
                            "docker --gpus all"));
}

}  // namespace teller::doctor_detail
