// NVTX's tables of functions, as an injection fills them in.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <cstdint>

namespace teller::collector {

struct TableEntry {
  std::uint32_t id;
  NvtxFunctionPointer function;
};

template <typename Function>
NvtxFunctionPointer erase(Function* function) noexcept {
  return reinterpret_cast<NvtxFunctionPointer>(function);
}

template <std::size_t kCount>
void fill_table(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
                const TableEntry (&entries)[kCount]) noexcept {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const TableEntry& entry : entries) {
    if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
  }
}

}  // namespace teller::collector
