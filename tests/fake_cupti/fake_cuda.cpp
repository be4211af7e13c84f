#include "fake_cuda.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "fake.h"

namespace {

std::atomic<std::uint32_t> g_next_correlation{1};
thread_local bool t_capturing = false;
constexpr unsigned kContexts = 16;
struct Context {
  std::atomic<int> error{0};     // to come
  std::atomic<int> reported{0};  // by every call from now on
  std::atomic<bool> known{false};
};
Context g_contexts[kContexts];

Context& context_of(unsigned context) {
  return g_contexts[context % kContexts];
}

int answer_of(unsigned context) {
  return context_of(context).reported.load();
}

std::string text(std::uint64_t number) {
  return std::to_string(number);
}

// Which of the two ids activities have is CUPTI's choice.
bool uses_driver_ids() {
  return std::getenv("FAKE_CUPTI_DRIVER_IDS") != nullptr;
}

struct Ids {
  int result = 0;
  std::uint32_t correlation = 0;
};

void emit_if(CUpti_ActivityKind kind, const char* what, const fake::Fields& fields) {
  if (fake::is_enabled(kind)) fake::emit(fake::make_record(what, fields));
}

// Once per context, as CUPTI says it when one is made. Contexts are on device 0.
void introduce(unsigned context) {
  if (context_of(context).known.exchange(true)) return;
  emit_if(CUPTI_ACTIVITY_KIND_CONTEXT, "context",
          {{"context", text(context)}, {"device", "0"}, {"stream", "7"}});
}

// A runtime call and the driver call within it, or the driver call alone.
Ids call(const char* runtime, const char* driver, const char* kernel, unsigned context) {
  introduce(context);
  fake::Call outer{false, runtime, kernel, 0, context, answer_of(context), 0};
  fake::Call inner{true, driver, kernel, 0, context, answer_of(context), 0};
  if (runtime != nullptr) {
    outer.correlation = g_next_correlation++;
    fake::enter(outer);
  }
  inner.correlation = g_next_correlation++;
  fake::enter(inner);
  fake::leave(inner);
  if (runtime != nullptr) fake::leave(outer);
  const bool driver_id = runtime == nullptr || uses_driver_ids();
  return {inner.result, driver_id ? inner.correlation : outer.correlation};
}

fake::Fields activity(std::uint32_t correlation, unsigned context, unsigned stream,
                      std::uint64_t duration_ns) {
  const std::uint64_t now = fake::timestamp();
  return {{"corr", text(correlation)},
          {"context", text(context)},
          {"stream", text(stream)},
          {"start", text(now)},
          {"end", text(now + duration_ns)}};
}

int launch(const char* runtime, const char* kernel, unsigned context, unsigned stream,
           std::uint64_t duration_ns) {
  const Ids ids = call(runtime, "cuLaunchKernel", kernel, context);
  if (ids.result != 0 || t_capturing) return ids.result;
  Context& state = context_of(context);
  if (state.error.load() != 0) {
    state.reported.store(state.error.load());
    // What CUPTI knows of a kernel that did not end: nothing, or all but its times.
    if (std::getenv("FAKE_CUPTI_UNENDED") == nullptr) return 0;
    fake::Fields unended = activity(ids.correlation, context, stream, 0);
    unended["start"] = unended["end"] = "0";
    unended["name"] = kernel;
    fake::emit_at_end(fake::make_record("kernel", unended));
    return 0;
  }
  fake::Fields fields = activity(ids.correlation, context, stream, duration_ns);
  fields["name"] = kernel;
  emit_if(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernel", fields);
  return 0;
}

// The runtime call and the driver call within.
int capture_call(const char* runtime, const char* driver, int result) {
  fake::Call outer{false, runtime, nullptr, g_next_correlation++, 1, result, 0};
  fake::enter(outer);
  fake::Call inner{true, driver, nullptr, g_next_correlation++, 1, result, 0};
  fake::enter(inner);
  fake::leave(inner);
  fake::leave(outer);
  return result;
}

}  // namespace

extern "C" {

int fake_begin_capture(int result) {
  if (result == 0) t_capturing = true;
  return capture_call("cudaStreamBeginCapture", "cuStreamBeginCapture_v2", result);
}

int fake_end_capture(int result) {
  t_capturing = false;
  return capture_call("cudaStreamEndCapture", "cuStreamEndCapture", result);
}

int fake_launch(const char* kernel, unsigned context, unsigned stream, unsigned duration_us) {
  return launch("cudaLaunchKernel", kernel, context, stream, duration_us * 1000u);
}

int fake_driver_launch(const char* kernel, unsigned context, unsigned stream) {
  return launch(nullptr, kernel, context, stream, 1000);
}

int fake_graph_launch(unsigned graph, unsigned kernels, unsigned context, unsigned stream) {
  const Ids ids = call("cudaGraphLaunch", "cuGraphLaunch", nullptr, context);
  if (ids.result != 0) return ids.result;
  fake::Fields fields = activity(ids.correlation, context, stream, 1000u * kernels);
  fields["graph"] = text(graph);
  // As CUPTI does: graphs as a whole, or their nodes.
  if (fake::is_enabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE)) {
    fake::emit(fake::make_record("graph", fields));
    return 0;
  }
  for (unsigned node = 0; node < kernels; ++node) {
    fields["name"] = "node_kernel";
    fields["node"] = text(node + 1);
    emit_if(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, "kernel", fields);
  }
  return 0;
}

int fake_memcpy(unsigned long bytes, unsigned context, unsigned stream) {
  const Ids ids = call("cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2", nullptr, context);
  if (ids.result != 0) return ids.result;
  fake::Fields fields = activity(ids.correlation, context, stream, 500);
  fields.insert({{"bytes", text(bytes)}, {"kind", "1"}, {"from", "2"}, {"to", "3"}});
  emit_if(CUPTI_ACTIVITY_KIND_MEMCPY, "memcpy", fields);
  return 0;
}

int fake_malloc(unsigned long bytes, unsigned context) {
  const Ids ids = call("cudaMalloc", "cuMemAlloc_v2", nullptr, context);
  if (ids.result != 0) return ids.result;
  fake::Fields fields = activity(ids.correlation, context, 0, 0);
  fields.insert({{"bytes", text(bytes)}, {"operation", "1"}, {"address", "0x7f00"}});
  emit_if(CUPTI_ACTIVITY_KIND_MEMORY2, "memory", fields);
  return 0;
}

int fake_synchronize(unsigned context, unsigned stream, unsigned seconds) {
  fake::Call outer{false, "cudaStreamSynchronize", nullptr, g_next_correlation++, context, 0, 0};
  fake::enter(outer);
  const std::uint64_t begin = fake::timestamp();
  if (seconds != 0) sleep(seconds);
  outer.result = answer_of(context);
  fake::leave(outer);
  fake::Fields fields = activity(outer.correlation, context, stream, 0);
  fields["start"] = text(begin);
  fields.insert({{"type", "3"}, {"result", text(static_cast<std::uint64_t>(outer.result))}});
  emit_if(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, "sync", fields);
  return outer.result;
}

void fake_poison(unsigned context, int error) {
  context_of(context).error.store(error);
}

}  // extern "C"
