#include "capture/device_record.h"

#include "capture/payload_values.h"

namespace teller::capture {

using ring::DeviceKind;

EventKind kind_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kKernel:
    case DeviceKind::kGraph:
      return EventKind::kKernel;
    case DeviceKind::kMemcpy:
      return EventKind::kMemcpy;
    case DeviceKind::kMemset:
      return EventKind::kMemset;
    case DeviceKind::kSync:
      return EventKind::kSync;
    case DeviceKind::kOverhead:
    case DeviceKind::kJit:
    case DeviceKind::kModule:
      return EventKind::kOverhead;
    case DeviceKind::kMemory:
    case DeviceKind::kMemoryPool:
      return EventKind::kMemory;
    case DeviceKind::kExternal:
      return EventKind::kExternalId;
  }
  return EventKind::kUnknown;
}

const char* category_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGraph:
      return "cuda_graph";
    case DeviceKind::kOverhead:
      return "cupti_overhead";
    case DeviceKind::kJit:
      return "cuda_jit";
    case DeviceKind::kModule:
      return "cuda_module";
    default:
      return "";
  }
}

bool runs_on_device(DeviceKind kind) {
  return kind == DeviceKind::kKernel || kind == DeviceKind::kMemcpy ||
         kind == DeviceKind::kMemset || kind == DeviceKind::kGraph;
}

std::int64_t value_of(const ring::DeviceRecord& activity) {
  const auto kind = static_cast<DeviceKind>(activity.kind);
  const auto bytes = static_cast<std::int64_t>(activity.bytes);
  constexpr std::uint32_t kRelease = 2;  // CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE
  if (kind == DeviceKind::kMemory) return activity.detail == kRelease ? -bytes : bytes;
  if (kind == DeviceKind::kMemoryPool) return 0;
  if (kind == DeviceKind::kSync) return activity.result;
  return kind == DeviceKind::kExternal ? activity.detail : bytes;
}

nlohmann::ordered_json attributes_of(const ring::DeviceRecord& activity) {
  auto attrs = nlohmann::ordered_json::object();
  switch (static_cast<DeviceKind>(activity.kind)) {
    case DeviceKind::kKernel:
    case DeviceKind::kMemset:
    case DeviceKind::kMemcpy:
      if (activity.extra[0] != 0) attrs["graph_node"] = activity.extra[0];
      if (activity.extra[1] != 0) attrs["from_device"] = activity.extra[1] - 1;
      if (activity.extra[2] != 0) attrs["to_device"] = activity.extra[2] - 1;
      break;
    case DeviceKind::kMemory:
      attrs["address"] = hex_number(activity.extra[0]);
      if (activity.extra[1] != 0) attrs["pool"] = hex_number(activity.extra[1]);
      break;
    case DeviceKind::kMemoryPool:
      attrs = {{"pool", hex_number(activity.extra[0])},
               {"bytes", activity.bytes},
               {"used_bytes", activity.extra[1]}};
      break;
    case DeviceKind::kJit:
      attrs["cache_bytes"] = activity.extra[0];
      break;
    case DeviceKind::kModule:
      attrs["module"] = activity.detail;
      break;
    default:
      break;
  }
  return attrs;
}

}  // namespace teller::capture
