// What the Python hooks call, through their extension (python_extension.cpp) or ctypes: C functions
// that speak real NVTX, so that another tool on the same program sees our ranges as well.
#pragma once

#include <cstdint>

// Numbers are NVTX categories of the domain "teller"; kept in step with
// python_hooks/teller_hooks/bridge.py.
enum TellerHookCategory : std::uint32_t {
  kTellerStep = 1,
  kTellerFrontEnd = 2,
  kTellerBackEnd = 3,
  kTellerRecord = 4,
  kTellerMeta = 5,
};

#define TELLER_EXPORT extern "C" __attribute__((visibility("default")))

// Makes the domain and its categories. 1 if hooks are recorded, 0 if there is nobody to record
// them. [MT]
TELLER_EXPORT int teller_hook_init() noexcept;
TELLER_EXPORT void teller_hook_push(std::uint32_t category, const char* text) noexcept;
TELLER_EXPORT void teller_hook_pop() noexcept;
TELLER_EXPORT void teller_hook_mark(std::uint32_t category, const char* text) noexcept;
// A range that may end on another thread, or out of order: coroutines and generators.
TELLER_EXPORT std::uint64_t teller_hook_start(std::uint32_t category, const char* text) noexcept;
TELLER_EXPORT void teller_hook_end(std::uint64_t id) noexcept;
// A message that is pushed again and again, made once; lives as long as the process. Null without
// memory.
struct TellerHookMessage;
TELLER_EXPORT const TellerHookMessage* teller_hook_message(std::uint32_t category,
                                                           const char* text) noexcept;
TELLER_EXPORT void teller_hook_push_message(const TellerHookMessage* message) noexcept;
TELLER_EXPORT std::uint64_t teller_hook_start_message(const TellerHookMessage* message) noexcept;
// Records PyTorch's operators from now on (torch_observer.h). Returns what came of it, for people.
TELLER_EXPORT const char* teller_hook_observe_torch(const char* version) noexcept;
// Adds "key=value" to what the run says of this process.
TELLER_EXPORT void teller_hook_note(const char* key, const char* value) noexcept;
