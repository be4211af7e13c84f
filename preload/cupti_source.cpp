#include "preload/cupti_source.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/arena.h"
#include "preload/cupti_api.h"
#include "preload/cupti_buffers.h"
#include "preload/cupti_calls.h"
#include "preload/cupti_clock.h"
#include "preload/cupti_records.h"

namespace teller::collector {

namespace {

std::atomic<bool> g_started{false};

// What `teller trace` was told, by way of the environment.
bool is_set_to(const char* variable, const char* value) noexcept {
  const char* text = secure_getenv(variable);
  return text != nullptr && std::strcmp(text, value) == 0;
}

// Kernels one by one, also those of graphs, unless a graph's launch is recorded as a whole.
std::uint32_t enable_activities(bool whole_graphs) noexcept {
  constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMCPY2,
                                           CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                           CUPTI_ACTIVITY_KIND_OVERHEAD,
                                           CUPTI_ACTIVITY_KIND_MEMORY2,
                                           CUPTI_ACTIVITY_KIND_MEMORY_POOL,
                                           CUPTI_ACTIVITY_KIND_JIT,
                                           CUPTI_ACTIVITY_KIND_MODULE,
                                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                                           CUPTI_ACTIVITY_KIND_CONTEXT,
                                           CUPTI_ACTIVITY_KIND_NAME};
  std::uint32_t enabled = 0;
  for (CUpti_ActivityKind kind : kKinds) {
    if (g_cupti.activity_enable(kind) == CUPTI_SUCCESS) ++enabled;
  }
  if (whole_graphs && g_cupti.activity_enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) == CUPTI_SUCCESS) {
    ++enabled;
  }
  return enabled;
}

void say_what_comes(bool calls, bool activities) noexcept {
  char text[96];
  std::snprintf(text, sizeof text, "CUPTI %u%s%s", g_cupti.version,
                calls ? "" : ", kernels only: no calls",
                activities ? "" : ", calls only: activities could not be enabled");
  note("cuda", text);
}

}  // namespace

void start_cupti() noexcept {
  static std::atomic<bool> tried{false};
  if (tried.exchange(true) || !ensure_arena()) return;
  if (const char* missing = load_cupti(&g_cupti)) return note("cuda", missing);
  if (g_cupti.version < kOldestCupti) {
    char text[96];
    std::snprintf(text, sizeof text, "not recorded: CUPTI %u is too old (CUDA 12.0 has %u)",
                  g_cupti.version, kOldestCupti);
    return note("cuda", text);
  }
  const bool calls = !is_set_to("TELLER_CUDA", "kernels");
  const bool whole_graphs = !is_set_to("TELLER_CUDA_GRAPH", "node");
  // Calls first: where another tool has subscribed, its activities and its clock are left alone
  // too.
  if (calls && !subscribe_to_calls()) return;
  start_cupti_clock();  // of the whole process; before any activity is enabled
  const bool activities = start_cupti_buffers() && enable_activities(whole_graphs) > 0;
  if (!calls && !activities) return note("cuda", "no driver (cuptiActivityEnable)");
  say_what_comes(calls, activities);
  if (!activities) return;
  ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  arena->cuda.activities.store(1, std::memory_order_relaxed);
  start_cupti_flushes();
  g_started.store(true);
}

CudaId id_of_stream(void* stream) noexcept {
  std::uint32_t id = 0;
  if (!g_started.load() || g_cupti.get_stream_id == nullptr) return {};
  const auto handle = static_cast<CUstream>(stream);
  if (g_cupti.get_stream_id(nullptr, handle, 0, &id) != CUPTI_SUCCESS) return {};
  return {id, true};
}

CudaId id_of_context(void* context) noexcept {
  std::uint32_t id = 0;
  if (!g_started.load() || g_cupti.get_context_id == nullptr) return {};
  if (g_cupti.get_context_id(static_cast<CUcontext>(context), &id) != CUPTI_SUCCESS) return {};
  return {id, true};
}

}  // namespace teller::collector
