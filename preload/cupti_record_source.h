// What the readers of activity records share; private to cupti_records.cpp and cupti_resources.cpp.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstring>

#include "preload/cuda_recorder.h"
#include "preload/cupti_clock.h"

namespace teller::collector {

using ring::DeviceKind;
using ring::DeviceRecord;

inline void count(std::atomic<std::uint64_t> ring::CudaState::*counter) noexcept {
  if (ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire)) {
    (arena->cuda.*counter).fetch_add(1, std::memory_order_relaxed);
  }
}

// A record that may end before its struct does.
class RecordSource {
 public:
  RecordSource(const CUpti_Activity* record, const std::uint8_t* end) noexcept
      : bytes_(reinterpret_cast<const std::uint8_t*>(record)), end_(end) {}

  // A copy of the record: CUPTI's structs are packed, and members that are not aligned cannot be
  // bound. False, and counted, if it is not whole.
  template <typename Activity>
  bool read(Activity* activity) const noexcept {
    if (bytes_ > end_ || static_cast<std::size_t>(end_ - bytes_) < sizeof *activity) {
      count(&ring::CudaState::malformed);
      return false;
    }
    std::memcpy(activity, bytes_, sizeof *activity);
    return true;
  }

 private:
  const std::uint8_t* bytes_;
  const std::uint8_t* end_;
};

inline DeviceRecord made(DeviceKind kind, std::uint64_t start, std::uint64_t end) noexcept {
  DeviceRecord record{};
  record.kind = static_cast<std::uint32_t>(kind);
  record.begin_ns = host_time(start);
  record.end_ns = host_time(end);
  record.device = record.context = record.stream = -1;
  return record;
}

template <typename Activity>
DeviceRecord placed(const Activity& activity, DeviceKind kind) noexcept {
  DeviceRecord record = made(kind, activity.start, activity.end);
  record.correlation = activity.correlationId;
  record.device = static_cast<std::int32_t>(activity.deviceId);
  record.context = static_cast<std::int32_t>(activity.contextId);
  record.stream = static_cast<std::int32_t>(activity.streamId);
  record.graph = activity.graphId;
  return record;
}

template <std::size_t kCount>
const char* entry(const char* const (&names)[kCount], std::uint32_t index) noexcept {
  return names[index < kCount ? index : 0];
}

// Copies and memsets have no name: they get the one that PyTorch's profiler gives them, so that
// they are of one family whoever traced them.
inline constexpr const char* kCopyKinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                             "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
inline constexpr const char* kMemoryKinds[] = {"Unknown",       "Pageable",      "Pinned",
                                               "Device",        "Array",         "Managed",
                                               "Device Static", "Managed Static"};

// Records of what is no work of a device.
void record_jit(const RecordSource& source, WaitBudget& budget) noexcept;
void record_memory(const RecordSource& source, WaitBudget& budget) noexcept;
void record_memory_pool(const RecordSource& source, WaitBudget& budget) noexcept;
void record_module(const RecordSource& source, WaitBudget& budget) noexcept;
void record_external(const RecordSource& source, WaitBudget& budget) noexcept;
void record_context(const RecordSource& source) noexcept;
void record_name(const RecordSource& source) noexcept;

}  // namespace teller::collector
