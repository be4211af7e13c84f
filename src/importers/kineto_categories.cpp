#include "importers/kineto_categories.h"

namespace teller {

namespace {

struct Row {
  std::string_view category;
  KinetoCategory meaning;
};

// Capitalised names are the dialect of 2021. Accelerators other than CUDA and ROCm have categories
// of their own with the same meaning.
constexpr Row kRows[] = {
    // Chrome traces of others (JAX, TensorFlow) need none: ranges of the thread that they name.
    {"", {EventKind::kRange, 0, false}},
    {"cpu_op", {EventKind::kRange, kFlagOperator, false}},
    {"Operator", {EventKind::kRange, kFlagOperator, false}},
    {"python_function", {EventKind::kRange, kFlagPython, false}},
    {"user_annotation", {EventKind::kRange, 0, false}},
    {"UserAnnotation", {EventKind::kRange, 0, false}},
    {"cpu_instant_event", {EventKind::kRange, 0, false}},
    {"collective_comm", {EventKind::kRange, 0, false}},
    {"cuda_runtime", {EventKind::kApiCall, 0, false}},
    {"Runtime", {EventKind::kApiCall, 0, false}},
    {"glow_runtime", {EventKind::kApiCall, 0, false}},
    {"mtia_runtime", {EventKind::kApiCall, 0, false}},
    {"xpu_runtime", {EventKind::kApiCall, 0, false}},
    {"privateuse1_runtime", {EventKind::kApiCall, 0, false}},
    {"hpu_op", {EventKind::kApiCall, 0, false}},
    {"cuda_driver", {EventKind::kApiCall, kFlagDriver, false}},
    {"xpu_driver", {EventKind::kApiCall, kFlagDriver, false}},
    {"privateuse1_driver", {EventKind::kApiCall, kFlagDriver, false}},
    {"kernel", {EventKind::kKernel, 0, true}},
    {"Kernel", {EventKind::kKernel, 0, true}},
    {"mtia_ccp_events", {EventKind::kKernel, 0, true}},
    {"gpu_memcpy", {EventKind::kMemcpy, 0, true}},
    {"Memcpy", {EventKind::kMemcpy, 0, true}},
    {"gpu_memset", {EventKind::kMemset, 0, true}},
    {"Memset", {EventKind::kMemset, 0, true}},
    {"gpu_user_annotation", {EventKind::kDeviceRange, 0, true}},
    {"cuda_profiler_range", {EventKind::kDeviceRange, 0, true}},
    {"cuda_sync", {EventKind::kSync, 0, true}},
    {"cuda_event", {EventKind::kSync, 0, true}},
    {"xpu_sync", {EventKind::kSync, 0, true}},
    {"overhead", {EventKind::kOverhead, 0, false}},
    {"Overhead", {EventKind::kOverhead, 0, false}},
    {"Trace", {EventKind::kWindow, 0, false}},
};

}  // namespace

std::optional<KinetoCategory> kineto_category(std::string_view category) {
  for (const Row& row : kRows) {
    if (row.category == category) return row.meaning;
  }
  return std::nullopt;
}

}  // namespace teller
