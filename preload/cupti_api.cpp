#include "preload/cupti_api.h"

#include <dlfcn.h>

#include <cstdlib>

namespace teller::collector {

namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};

void* open_library() noexcept {
  // A second CUPTI beside the program's own would see no events: prefer the one that is there.
  for (const char* name : kNames) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  if (const char* path = secure_getenv("TELLER_CUPTI")) {
    if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  for (const char* name : kNames) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <typename Function>
bool find(void* library, const char* name, Function* function) noexcept {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace

CuptiApi g_cupti;

const char* load_cupti(CuptiApi* api) noexcept {
  void* library = open_library();
  if (library == nullptr) return "libcupti not found";
  const bool complete = find(library, "cuptiGetVersion", &api->get_version) &&
                        find(library, "cuptiSubscribe", &api->subscribe) &&
                        find(library, "cuptiUnsubscribe", &api->unsubscribe) &&
                        find(library, "cuptiEnableDomain", &api->enable_domain) &&
                        find(library, "cuptiActivityEnable", &api->activity_enable) &&
                        find(library, "cuptiActivityRegisterCallbacks", &api->register_callbacks) &&
                        find(library, "cuptiActivityGetNextRecord", &api->next_record) &&
                        find(library, "cuptiActivityGetNumDroppedRecords", &api->dropped_records) &&
                        find(library, "cuptiActivityFlushAll", &api->flush_all);
  if (!complete) return "libcupti lacks functions that are needed";
  find(library, "cuptiActivityFlushPeriod", &api->flush_period);
  find(library, "cuptiActivityRegisterTimestampCallback", &api->register_timestamp);
  find(library, "cuptiGetTimestamp", &api->get_timestamp);
  find(library, "cuptiGetStreamIdEx", &api->get_stream_id);
  find(library, "cuptiGetContextId", &api->get_context_id);
  if (api->get_version(&api->version) != CUPTI_SUCCESS) return "cuptiGetVersion failed";
  return nullptr;
}

}  // namespace teller::collector
