// The one seam to CUPTI: every function that we call, looked up at run time, so that one build
// serves CUDA 12 and 13, machines without CUDA, and a fake.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace teller::collector {

struct CuptiApi {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableDomain) enable_domain = nullptr;
  decltype(&cuptiActivityEnable) activity_enable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  // Absent in older CUPTI; null then.
  decltype(&cuptiActivityFlushPeriod) flush_period = nullptr;
  decltype(&cuptiActivityRegisterTimestampCallback) register_timestamp = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetStreamIdEx) get_stream_id = nullptr;
  decltype(&cuptiGetContextId) get_context_id = nullptr;
  std::uint32_t version = 0;
};

// CUPTI as this process has it; filled in once, by start_cupti(), before anything calls it.
extern CuptiApi g_cupti;

// Finds libcupti: the one that the process has loaded already, else TELLER_CUPTI (a path), else by
// its usual names. Null on success, else what is missing, for people.
const char* load_cupti(CuptiApi* api) noexcept;

}  // namespace teller::collector
