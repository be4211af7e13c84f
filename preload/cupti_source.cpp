#include "preload/cupti_source.h"

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "preload/cupti_api.h"
#include "preload/recorder.h"

namespace teller::collector {

namespace {

// The part of each record that we read is the same in every CUPTI from this version (CUDA 11.2) on;
// what a later version added stands behind it. The layout is fixed by the libcupti that is loaded,
// not by the header we were built with.
constexpr std::uint32_t kOldestVersion = 15;
static_assert(offsetof(CUpti_ActivityKernel10, correlationId) ==
              offsetof(CUpti_ActivityKernel9, correlationId));
static_assert(offsetof(CUpti_ActivityKernel10, name) == offsetof(CUpti_ActivityKernel9, name));
static_assert(offsetof(CUpti_ActivityKernel10, graphId) ==
              offsetof(CUpti_ActivityKernel9, graphId));

// Small buffers, so that an activity reaches its ring soon.
constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kBufferAlignment = 8;
constexpr std::uint32_t kFlushPeriodMs = 100;

CuptiApi g_api;
CUpti_SubscriberHandle g_subscriber;
std::atomic<bool> g_started{false};
// What to add to CUPTI's times where it cannot be told to use CLOCK_MONOTONIC.
std::int64_t g_clock_offset_ns = 0;

std::uint64_t host_time(std::uint64_t cupti_ns) noexcept {
  return cupti_ns == 0 ? 0 : cupti_ns + static_cast<std::uint64_t>(g_clock_offset_ns);
}

uint64_t CUPTIAPI timestamp() noexcept {
  return now_ns();
}

void on_call(const CUpti_CallbackData& data, bool driver) noexcept {
  const char* name = data.functionName != nullptr ? data.functionName : "?";
  if (data.callbackSite == CUPTI_API_ENTER) {
    const std::uint64_t begin = now_ns();
    if (data.correlationData != nullptr) *data.correlationData = begin;
    record_call_begin(data.correlationId, driver, name, begin);
    return;
  }
  ring::ApiRecord call{};
  call.begin_ns = data.correlationData != nullptr ? *data.correlationData : now_ns();
  call.correlation = data.correlationId;
  call.driver = driver ? 1 : 0;
  // cudaError_t and CUresult are both int-sized enumerations. Some calls return nothing.
  if (data.functionReturnValue != nullptr) {
    call.result = *static_cast<const std::int32_t*>(data.functionReturnValue);
  }
  record_call_end(call, name);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId,
                          const void* data) noexcept {
  if (data == nullptr) return;
  const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
  on_call(*static_cast<const CUpti_CallbackData*>(data), driver);
}

template <typename Activity>
ring::DeviceRecord placed(const Activity& activity, ring::DeviceKind kind) noexcept {
  ring::DeviceRecord record{};
  record.kind = static_cast<std::uint32_t>(kind);
  record.begin_ns = host_time(activity.start);
  record.end_ns = host_time(activity.end);
  record.correlation = activity.correlationId;
  record.device = static_cast<std::int32_t>(activity.deviceId);
  record.context = static_cast<std::int32_t>(activity.contextId);
  record.stream = static_cast<std::int32_t>(activity.streamId);
  record.graph = activity.graphId;
  return record;
}

void on_kernel(const CUpti_ActivityKernel9& kernel, WaitBudget& budget) noexcept {
  record_device(placed(kernel, ring::DeviceKind::kKernel), kernel.name, budget);
}

void on_memcpy(const CUpti_ActivityMemcpy5& copy, WaitBudget& budget) noexcept {
  ring::DeviceRecord record = placed(copy, ring::DeviceKind::kMemcpy);
  record.bytes = copy.bytes;
  record.detail = copy.copyKind;
  constexpr const char* kNames[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                    "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                    "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
  record_device(record, kNames[copy.copyKind <= 10 ? copy.copyKind : 0], budget);
}

void on_memset(const CUpti_ActivityMemset4& fill, WaitBudget& budget) noexcept {
  ring::DeviceRecord record = placed(fill, ring::DeviceKind::kMemset);
  record.bytes = fill.bytes;
  record_device(record, "Memset", budget);
}

void on_sync(const CUpti_ActivitySynchronization& sync, WaitBudget& budget) noexcept {
  ring::DeviceRecord record{};
  record.kind = static_cast<std::uint32_t>(ring::DeviceKind::kSync);
  record.begin_ns = host_time(sync.start);
  record.end_ns = host_time(sync.end);
  record.correlation = sync.correlationId;
  record.device = -1;
  record.context = static_cast<std::int32_t>(sync.contextId);
  record.stream = static_cast<std::int32_t>(sync.streamId);
  record.detail = static_cast<std::uint32_t>(sync.type);
  constexpr const char* kNames[] = {"Sync", "Event Sync", "Stream Wait Event", "Stream Sync",
                                    "Context Sync"};
  record_device(record, kNames[record.detail <= 4 ? record.detail : 0], budget);
}

void on_overhead(const CUpti_ActivityOverhead2& overhead, WaitBudget& budget) noexcept {
  ring::DeviceRecord record{};
  record.kind = static_cast<std::uint32_t>(ring::DeviceKind::kOverhead);
  record.begin_ns = host_time(overhead.start);
  record.end_ns = host_time(overhead.end);
  record.device = record.context = record.stream = -1;
  record.detail = static_cast<std::uint32_t>(overhead.overheadKind);
  record_device(record, "CUPTI overhead", budget);
}

template <typename Activity>
const Activity& as(const CUpti_Activity* record) noexcept {
  return *reinterpret_cast<const Activity*>(record);
}

void on_activity(const CUpti_Activity* record, WaitBudget& budget) noexcept {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return on_kernel(as<CUpti_ActivityKernel9>(record), budget);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return on_memcpy(as<CUpti_ActivityMemcpy5>(record), budget);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return on_memset(as<CUpti_ActivityMemset4>(record), budget);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return on_sync(as<CUpti_ActivitySynchronization>(record), budget);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return on_overhead(as<CUpti_ActivityOverhead2>(record), budget);
    default:
      return;
  }
}

void CUPTIAPI on_buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) noexcept {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI on_buffer_completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                                  size_t valid_bytes) noexcept {
  CUpti_Activity* record = nullptr;
  WaitBudget budget;
  while (valid_bytes > 0 && !capture_has_stopped() &&
         g_api.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    on_activity(record, budget);
  }
  std::size_t dropped = 0;
  if (g_api.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS && dropped > 0) {
    if (ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire)) {
      arena->device_dropped.fetch_add(dropped, std::memory_order_relaxed);
    }
  }
  std::free(buffer);
}

void flush_at_exit() noexcept {
  if (g_started.load() && !capture_has_stopped()) g_api.flush_all(1);
}

void set_clock() noexcept {
  if (g_api.register_timestamp != nullptr && g_api.register_timestamp(timestamp) == CUPTI_SUCCESS) {
    return;
  }
  std::uint64_t cupti_ns = 0;
  if (g_api.get_timestamp == nullptr) return;
  const std::uint64_t before = now_ns();
  if (g_api.get_timestamp(&cupti_ns) != CUPTI_SUCCESS) return;
  const std::uint64_t middle = before + (now_ns() - before) / 2;
  g_clock_offset_ns = static_cast<std::int64_t>(middle - cupti_ns);
}

void note_failure(const char* what, CUptiResult result) noexcept {
  char text[96];
  std::snprintf(text, sizeof text, "no driver (%s %d)", what, static_cast<int>(result));
  note("cuda", text);
}

// Without a driver cuptiSubscribe answers 999 and cuptiActivityEnable too: NVTX alone is recorded
// then.
bool subscribe() noexcept {
  CUptiResult result = g_api.subscribe(&g_subscriber, on_callback, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    note("cuda", "not recorded: another tool has subscribed to CUPTI");
    return false;
  }
  if (result != CUPTI_SUCCESS) {
    note_failure("cuptiSubscribe", result);
    return false;
  }
  const CUptiResult runtime = g_api.enable_domain(1, g_subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  const CUptiResult driver = g_api.enable_domain(1, g_subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  if (runtime == CUPTI_SUCCESS || driver == CUPTI_SUCCESS) return true;
  note_failure("cuptiEnableDomain", runtime);
  g_api.unsubscribe(g_subscriber);
  return false;
}

bool enable_activities() noexcept {
  if (g_api.register_callbacks(on_buffer_requested, on_buffer_completed) != CUPTI_SUCCESS) {
    return false;
  }
  constexpr CUpti_ActivityKind kKinds[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
      CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_OVERHEAD};
  bool any = false;
  for (CUpti_ActivityKind kind : kKinds) any |= g_api.activity_enable(kind) == CUPTI_SUCCESS;
  if (any && g_api.flush_period != nullptr) g_api.flush_period(kFlushPeriodMs);
  return any;
}

}  // namespace

void start_cupti() noexcept {
  static std::atomic<bool> tried{false};
  if (tried.exchange(true) || !ensure_arena()) return;
  if (const char* missing = load_cupti(&g_api)) return note("cuda", missing);
  if (g_api.version < kOldestVersion) return note("cuda", "not recorded: CUPTI is too old");
  set_clock();
  if (!subscribe()) return;
  const bool activities = enable_activities();
  char text[96];
  std::snprintf(text, sizeof text, "CUPTI %u%s", g_api.version,
                activities ? "" : ", calls only: activities could not be enabled");
  note("cuda", text);
  g_started.store(true);
  std::atexit(flush_at_exit);
}

}  // namespace teller::collector
