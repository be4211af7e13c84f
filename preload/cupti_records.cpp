#include "preload/cupti_records.h"

#include <cstddef>
#include <cstdio>
#include <cstring>

#include "preload/cupti_api.h"
#include "preload/cupti_record_source.h"

namespace teller::collector {

namespace {

// What CUDA 13 has added stands behind what CUDA 12 had, so that one struct reads both.
#define TELLER_SAME(field, older, newer) \
  static_assert(offsetof(CUpti_Activity##older, field) == offsetof(CUpti_Activity##newer, field))
TELLER_SAME(correlationId, Kernel9, Kernel10);
TELLER_SAME(name, Kernel9, Kernel10);
TELLER_SAME(graphNodeId, Kernel9, Kernel10);
TELLER_SAME(graphId, Kernel9, Kernel10);
TELLER_SAME(graphNodeId, Memcpy5, Memcpy6);
TELLER_SAME(graphId, Memcpy5, Memcpy6);
TELLER_SAME(graphId, MemcpyPtoP3, MemcpyPtoP4);
TELLER_SAME(graphId, Memset3, Memset4);
TELLER_SAME(streamId, GraphTrace, GraphTrace2);
TELLER_SAME(correlationId, Overhead2, Overhead3);
TELLER_SAME(streamId, Synchronization, Synchronization2);
#undef TELLER_SAME
constexpr std::uint32_t kOverheadWithCorrelation = 20;  // CUDA 12.2
constexpr std::uint32_t kSyncWithResult = 26;           // CUDA 12.8

template <typename Activity>
void on_copy(const Activity& copy, DeviceRecord record, WaitBudget& budget) noexcept {
  record.bytes = copy.bytes;
  record.detail = copy.copyKind;
  record.extra[0] = copy.graphNodeId;
  char name[80];
  std::snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", entry(kCopyKinds, copy.copyKind),
                entry(kMemoryKinds, copy.srcKind), entry(kMemoryKinds, copy.dstKind));
  record_device(record, name, budget);
}

void on_kernel(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityKernel9 kernel;
  if (!source.read(&kernel)) return;
  DeviceRecord record = placed(kernel, DeviceKind::kKernel);
  record.extra[0] = kernel.graphNodeId;
  record_device(record, kernel.name, budget);
}

void on_memcpy(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityMemcpy5 copy;
  if (source.read(&copy)) on_copy(copy, placed(copy, DeviceKind::kMemcpy), budget);
}

void on_peer_copy(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityMemcpyPtoP3 copy;
  if (!source.read(&copy)) return;
  DeviceRecord record = placed(copy, DeviceKind::kMemcpy);
  // One more than the device, so that 0 is none.
  record.extra[1] = std::uint64_t{copy.srcDeviceId} + 1;
  record.extra[2] = std::uint64_t{copy.dstDeviceId} + 1;
  on_copy(copy, record, budget);
}

void on_memset(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityMemset4 fill;
  if (!source.read(&fill)) return;
  DeviceRecord record = placed(fill, DeviceKind::kMemset);
  record.bytes = fill.bytes;
  record.extra[0] = fill.graphNodeId;
  char name[48];
  std::snprintf(name, sizeof name, "Memset (%s)", entry(kMemoryKinds, fill.memoryKind));
  record_device(record, name, budget);
}

void on_graph(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityGraphTrace graph;
  if (!source.read(&graph)) return;
  char name[32];
  std::snprintf(name, sizeof name, "graph %u", graph.graphId);
  record_device(placed(graph, DeviceKind::kGraph), name, budget);
}

void on_sync(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivitySynchronization2 sync{};
  if (g_cupti.version >= kSyncWithResult) {
    if (!source.read(&sync)) return;
  } else {
    CUpti_ActivitySynchronization older;
    if (!source.read(&older)) return;
    std::memcpy(&sync, &older, sizeof older);
  }
  DeviceRecord record = made(DeviceKind::kSync, sync.start, sync.end);
  record.correlation = sync.correlationId;
  record.context = static_cast<std::int32_t>(sync.contextId);
  record.stream = static_cast<std::int32_t>(sync.streamId);
  record.detail = static_cast<std::uint32_t>(sync.type);
  record.result = static_cast<std::int32_t>(sync.returnValue);
  constexpr const char* kNames[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                    "Stream Sync", "Context Sync"};
  record_device(record, entry(kNames, record.detail), budget);
}

void on_overhead(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityOverhead2 overhead{};
  if (g_cupti.version >= kOverheadWithCorrelation) {
    if (!source.read(&overhead)) return;
  } else {
    CUpti_ActivityOverhead older;
    if (!source.read(&older)) return;
    std::memcpy(&overhead, &older, sizeof older);
  }
  DeviceRecord record = made(DeviceKind::kOverhead, overhead.start, overhead.end);
  record.correlation = overhead.correlationId;
  record.detail = static_cast<std::uint32_t>(overhead.overheadKind);
  constexpr const char* kNames[] = {"Unknown",
                                    "Buffer Flush",
                                    "Instrumentation",
                                    "Resource",
                                    "Runtime Triggered Module Loading",
                                    "Lazy Function Loading",
                                    "Command Buffer Full",
                                    "Activity Buffer Request",
                                    "UVM Activity Init"};
  const bool compiler = record.detail == CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER;
  record_device(record, compiler ? "Driver JIT Compiler" : entry(kNames, record.detail >> 16),
                budget);
}

}  // namespace

void record_activity(const CUpti_Activity* record, const std::uint8_t* end,
                     WaitBudget& budget) noexcept {
  const RecordSource source(record, end);
  CUpti_Activity head;
  if (!source.read(&head)) return;
  switch (head.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return on_kernel(source, budget);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return on_memcpy(source, budget);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return on_peer_copy(source, budget);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return on_memset(source, budget);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return on_graph(source, budget);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return on_sync(source, budget);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return on_overhead(source, budget);
    case CUPTI_ACTIVITY_KIND_JIT:
      return record_jit(source, budget);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return record_memory(source, budget);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return record_memory_pool(source, budget);
    case CUPTI_ACTIVITY_KIND_MODULE:
      return record_module(source, budget);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return record_external(source, budget);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return record_context(source);
    case CUPTI_ACTIVITY_KIND_NAME:
      return record_name(source);
    default:
      return count(&ring::CudaState::unknown);
  }
}

}  // namespace teller::collector
