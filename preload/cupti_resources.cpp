#include <cstdio>

#include "preload/cupti_record_source.h"

namespace teller::collector {

namespace {

// What CUDA 13 has added stands behind what CUDA 12 had, so that one struct reads both.
#define TELLER_SAME(field, older, newer) \
  static_assert(offsetof(CUpti_Activity##older, field) == offsetof(CUpti_Activity##newer, field))
TELLER_SAME(memoryPoolConfig, Memory2, Memory4);
TELLER_SAME(timestamp, MemoryPool2, MemoryPool3);
TELLER_SAME(cacheSize, Jit, Jit2);
TELLER_SAME(nullStreamId, Context2, Context3);
#undef TELLER_SAME

}  // namespace

void record_jit(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityJit jit;
  if (!source.read(&jit)) return;
  DeviceRecord record = made(DeviceKind::kJit, jit.start, jit.end);
  record.correlation = jit.correlationId;
  record.device = static_cast<std::int32_t>(jit.deviceId);
  record.detail = static_cast<std::uint32_t>(jit.jitOperationType);
  record.extra[0] = jit.cacheSize;
  constexpr const char* kEntries[] = {"unknown", "PTX to cubin", "NVVM IR to PTX"};
  constexpr const char* kOperations[] = {"unknown", "cache load", "cache store", "compile"};
  char name[64];
  std::snprintf(name, sizeof name, "JIT %s (%s)", entry(kOperations, record.detail),
                entry(kEntries, static_cast<std::uint32_t>(jit.jitEntryType)));
  record_device(record, name, budget);
}

void record_memory(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityMemory2 memory;
  if (!source.read(&memory)) return;
  DeviceRecord record = made(DeviceKind::kMemory, memory.timestamp, memory.timestamp);
  record.correlation = memory.correlationId;
  record.device = static_cast<std::int32_t>(memory.deviceId);
  record.context = static_cast<std::int32_t>(memory.contextId);
  record.stream = static_cast<std::int32_t>(memory.streamId);
  record.bytes = memory.bytes;
  record.detail = static_cast<std::uint32_t>(memory.memoryOperationType);
  record.extra[0] = memory.address;
  record.extra[1] = memory.memoryPoolConfig.address;
  constexpr const char* kNames[] = {"Memory", "Memory allocation", "Memory release"};
  char name[64];
  std::snprintf(name, sizeof name, "%s (%s)", entry(kNames, record.detail),
                entry(kMemoryKinds, static_cast<std::uint32_t>(memory.memoryKind)));
  record_device(record, name, budget);
}

void record_memory_pool(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityMemoryPool2 pool;
  if (!source.read(&pool)) return;
  DeviceRecord record = made(DeviceKind::kMemoryPool, pool.timestamp, pool.timestamp);
  record.correlation = pool.correlationId;
  record.device = static_cast<std::int32_t>(pool.deviceId);
  record.bytes = pool.size;
  record.detail = static_cast<std::uint32_t>(pool.memoryPoolOperationType);
  record.extra[0] = pool.address;
  record.extra[1] = pool.utilizedSize;
  constexpr const char* kNames[] = {"Memory pool", "Memory pool created", "Memory pool destroyed",
                                    "Memory pool trimmed"};
  record_device(record, entry(kNames, record.detail), budget);
}

void record_module(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityModule module;
  if (!source.read(&module)) return;
  DeviceRecord record = made(DeviceKind::kModule, 0, 0);
  record.begin_ns = record.end_ns = now_ns();
  record.context = static_cast<std::int32_t>(module.contextId);
  record.bytes = module.cubinSize;
  record.detail = module.id;
  record_device(record, "Module loaded", budget);
}

void record_external(const RecordSource& source, WaitBudget& budget) noexcept {
  CUpti_ActivityExternalCorrelation external;
  if (!source.read(&external)) return;
  DeviceRecord record = made(DeviceKind::kExternal, 0, 0);
  record.begin_ns = record.end_ns = now_ns();
  record.correlation = external.correlationId;
  record.detail = static_cast<std::uint32_t>(external.externalKind);
  record.extra[0] = external.externalId;
  record_device(record, "", budget);
}

void record_context(const RecordSource& source) noexcept {
  CUpti_ActivityContext2 context;
  if (!source.read(&context)) return;
  const ring::ContextDefinition definition{context.nullStreamId, 0};
  define(ring::DefinitionKind::kContext, context.deviceId, context.contextId,
         reinterpret_cast<const char*>(&definition), sizeof definition);
}

void record_name(const RecordSource& source) noexcept {
  CUpti_ActivityName named;
  if (!source.read(&named) || named.name == nullptr) return;
  const Text text = text_of(named.name);
  const auto& id = named.objectId.dcs;
  if (named.objectKind == CUPTI_ACTIVITY_OBJECT_DEVICE) {
    define(ring::DefinitionKind::kDeviceName, 0, id.deviceId, text.data, text.bytes);
  } else if (named.objectKind == CUPTI_ACTIVITY_OBJECT_CONTEXT) {
    define(ring::DefinitionKind::kContextName, 0, id.contextId, text.data, text.bytes);
  } else if (named.objectKind == CUPTI_ACTIVITY_OBJECT_STREAM) {
    define(ring::DefinitionKind::kStreamName, id.contextId, id.streamId, text.data, text.bytes);
  }
}

}  // namespace teller::collector
