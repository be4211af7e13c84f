#include "preload/cupti_calls.h"

#include <cstdio>
#include <cstring>

#include "preload/cuda_recorder.h"
#include "preload/cupti_api.h"

namespace teller::collector {

namespace {

CUpti_SubscriberHandle g_subscriber;

bool begins_with(const char* text, const char* prefix) noexcept {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// cudaLaunchKernel, __cudaLaunchKernel_ptsz, cuLaunchKernelEx, …: for these alone CUPTI names the
// kernel. Of a graph it names nothing.
LaunchedWork work_of(const CUpti_CallbackData& data, const char* name) noexcept {
  const char* rest = name;
  while (*rest == '_') ++rest;
  if (!begins_with(rest, "cu")) return {};
  rest += begins_with(rest, "cuda") ? 4 : 2;
  if (begins_with(rest, "StreamBeginCapture")) return {.begins_capture = true};
  if (begins_with(rest, "StreamEndCapture")) return {.ends_capture = true};
  if (begins_with(rest, "GraphLaunch")) return {.any = true, .graph = true, .name = name};
  if (!begins_with(rest, "Launch") || begins_with(rest, "LaunchHostFunc")) return {};
  return {.any = true, .name = data.symbolName != nullptr ? data.symbolName : name};
}

void on_call(const CUpti_CallbackData& data, bool driver) noexcept {
  const char* name = data.functionName != nullptr ? data.functionName : "?";
  if (data.callbackSite == CUPTI_API_ENTER) {
    const std::uint64_t begin = now_ns();
    if (data.correlationData != nullptr) *data.correlationData = begin;
    return record_call_begin({data.correlationId, driver, name, begin});
  }
  ring::ApiRecord call{};
  call.begin_ns = data.correlationData != nullptr ? *data.correlationData : now_ns();
  call.correlation = data.correlationId;
  call.driver = driver ? 1 : 0;
  call.context = data.contextUid;
  // cudaError_t and CUresult are both int-sized enumerations. Some calls return nothing.
  if (data.functionReturnValue != nullptr) {
    call.result = *static_cast<const std::int32_t*>(data.functionReturnValue);
  }
  record_call_end(call, name, work_of(data, name));
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId,
                          const void* data) noexcept {
  if (data == nullptr) return;
  const bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
  on_call(*static_cast<const CUpti_CallbackData*>(data), driver);
}

void note_failure(const char* what, CUptiResult result) noexcept {
  char text[96];
  std::snprintf(text, sizeof text, "no driver (%s %d)", what, static_cast<int>(result));
  note("cuda", text);
}

}  // namespace

bool subscribe_to_calls() noexcept {
  const CUptiResult result = g_cupti.subscribe(&g_subscriber, on_callback, nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    note("cuda", "not recorded: another tool has subscribed to CUPTI");
    return false;
  }
  if (result != CUPTI_SUCCESS) {
    note_failure("cuptiSubscribe", result);
    return false;
  }
  const CUptiResult runtime = g_cupti.enable_domain(1, g_subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  const CUptiResult driver = g_cupti.enable_domain(1, g_subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  if (runtime == CUPTI_SUCCESS || driver == CUPTI_SUCCESS) return true;
  note_failure("cuptiEnableDomain", runtime);
  g_cupti.unsubscribe(g_subscriber);
  return false;
}

}  // namespace teller::collector
