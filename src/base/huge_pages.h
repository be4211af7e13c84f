// Memory for large arrays in pages of 2 MiB: touching gigabytes in pages of 4 KiB takes as long as
// the work that fills them.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace teller {

// Asks for huge pages for the whole pages of [data, data + bytes), if that is worth it. To be
// called before the memory is touched; where the kernel has none to give, nothing changes.
inline void advise_huge_pages(void* data, std::size_t bytes) {
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::size_t kWorthIt = 4u << 20;
  if (bytes < kWorthIt) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) & ~(kPage - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(kPage - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// Reserves room for `count` elements at once.
template <typename T>
void reserve_huge(std::vector<T>& array, std::size_t count) {
  if (count <= array.capacity()) return;
  array.reserve(count);
  advise_huge_pages(array.data() + array.size(), (array.capacity() - array.size()) * sizeof(T));
}

}  // namespace teller
