// The functions of CUPTI that the collector looks up.
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "fake.h"

namespace {

std::mutex g_mutex;
std::set<int> g_kinds;
std::atomic<CUpti_CallbackFunc> g_callback{nullptr};
void* g_user_data = nullptr;
std::atomic<bool> g_domains[CUPTI_CB_DOMAIN_SIZE];
std::atomic<CUpti_TimestampCallbackFunc> g_timestamp{nullptr};

// FAKE_CUPTI_FAIL=subscribe:999,activity:999: what a function answers instead of success.
CUptiResult answer(const char* function) {
  const char* text = std::getenv("FAKE_CUPTI_FAIL");
  const std::string wanted = std::string(function) + ":";
  const char* found = text == nullptr ? nullptr : std::strstr(text, wanted.c_str());
  return found == nullptr ? CUPTI_SUCCESS
                          : static_cast<CUptiResult>(std::atoi(found + wanted.size()));
}

}  // namespace

namespace fake {

std::uint32_t version() {
  const char* text = std::getenv("FAKE_CUPTI_VERSION");
  return text == nullptr ? FAKE_VERSION : static_cast<std::uint32_t>(std::atoi(text));
}

bool is_enabled(CUpti_ActivityKind kind) {
  const std::lock_guard lock(g_mutex);
  return g_kinds.count(kind) > 0;
}

std::uint64_t timestamp() {
  if (const CUpti_TimestampCallbackFunc callback = g_timestamp.load()) return callback();
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  // A clock of its own: another zero.
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec) + 7'000'000'000'000u;
}

namespace {

void fire(Call& call, CUpti_ApiCallbackSite site) {
  const CUpti_CallbackDomain domain =
      call.driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  const CUpti_CallbackFunc callback = g_callback.load();
  if (callback == nullptr || !g_domains[domain].load()) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = call.name;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &call.result : nullptr;
  data.symbolName = call.kernel;
  data.contextUid = call.context;
  data.correlationData = &call.shared;
  data.correlationId = call.correlation;
  callback(g_user_data, domain, 1, &data);
}

}  // namespace

void enter(Call& call) {
  fire(call, CUPTI_API_ENTER);
}

void leave(Call& call) {
  fire(call, CUPTI_API_EXIT);
}

}  // namespace fake

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = fake::version();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                           void* user_data) {
  if (const CUptiResult result = answer("subscribe")) return result;
  CUpti_CallbackFunc expected = nullptr;
  if (!g_callback.compare_exchange_strong(expected, callback)) {
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  g_user_data = user_data;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&g_callback);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  g_callback.store(nullptr);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle,
                              CUpti_CallbackDomain domain) {
  if (const CUptiResult result = answer("domain")) return result;
  g_domains[domain].store(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (const CUptiResult result = answer("activity")) return result;
  const std::lock_guard lock(g_mutex);
  g_kinds.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t flags) {
  if ((flags & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0) fake::emit_unended();
  fake::deliver();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  if (const CUptiResult result = answer("timestamp")) return result;
  g_timestamp.store(callback);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = fake::timestamp();
  return CUPTI_SUCCESS;
}

// A stream's or context's handle is its number here.
CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream stream, std::uint8_t, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(stream));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetContextId(CUcontext context, std::uint32_t* id) {
  *id = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(context));
  return CUPTI_SUCCESS;
}

// For tests: whether anybody is called back.
int fake_has_subscriber() {
  return g_callback.load() != nullptr ? 1 : 0;
}

// For tests: whether the clock of all who use CUPTI in this process has been replaced.
int fake_has_clock() {
  return g_timestamp.load() != nullptr ? 1 : 0;
}

}  // extern "C"
