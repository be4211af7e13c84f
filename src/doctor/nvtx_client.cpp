// A small NVTX client: what the NVTX headers do in a program that pushes ranges, for the self-test.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "doctor/doctor.h"

namespace teller {

namespace {

using Function = void (*)();

// Numbers of the NVTX ABI, version 3.
constexpr std::uint32_t kCallbacksTable = 1;
constexpr std::uint32_t kCoreModule = 1;
constexpr int kRangePushA = 9;
constexpr int kRangePop = 11;
constexpr int kCoreFunctions = 16;
constexpr int kRanges = 8;

struct Slots {
  Function functions[kCoreFunctions] = {};
  Function* table[kCoreFunctions + 1] = {};
} g_slots;

struct Callbacks {
  std::size_t size;
  int (*get_module_table)(std::uint32_t module, Function*** table, unsigned* count);
};

// The tool puts its functions where the table points to; the first entry is none.
int get_module_table(std::uint32_t module, Function*** table, unsigned* count) {
  if (module != kCoreModule) return 0;
  for (int i = 1; i < kCoreFunctions; ++i) g_slots.table[i] = &g_slots.functions[i];
  *table = g_slots.table;
  *count = kCoreFunctions;
  return 1;
}

const void* get_export_table(std::uint32_t id) {
  static const Callbacks callbacks{sizeof(Callbacks), get_module_table};
  return id == kCallbacksTable ? &callbacks : nullptr;
}

}  // namespace

int run_nvtx_client() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  using Initialize = int (*)(const void* (*)(std::uint32_t));
  const auto initialize = reinterpret_cast<Initialize>(dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr || initialize(get_export_table) != 1) return 1;
  const auto push = reinterpret_cast<int (*)(const char*)>(g_slots.functions[kRangePushA]);
  const auto pop = reinterpret_cast<int (*)()>(g_slots.functions[kRangePop]);
  if (push == nullptr || pop == nullptr) return 1;
  for (int i = 0; i < kRanges; ++i) {
    push("doctor");
    pop();
  }
  return 0;
}

}  // namespace teller
