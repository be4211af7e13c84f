#include "preload/safe_read.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace teller::collector {

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uintptr_t kLowest = 65536;  // nothing is ever mapped below

std::size_t to_page_end(const void* address) noexcept {
  return kPage - (reinterpret_cast<std::uintptr_t>(address) & (kPage - 1));
}

bool looks_mapped(const void* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address) >= kLowest;
}

// How much the kernel could copy; it stops at the first page that is not there.
std::size_t ask_kernel(void* to, const void* from, std::size_t bytes) noexcept {
  const int saved_errno = errno;
  const iovec local{to, bytes};
  const iovec remote{const_cast<void*>(from), bytes};
  const ssize_t copied = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  errno = saved_errno;
  return copied < 0 ? 0 : static_cast<std::size_t>(copied);
}

}  // namespace

std::size_t read_within_page(void* to, const void* from, std::size_t bytes) noexcept {
  if (!looks_mapped(from) || bytes == 0) return 0;
  const std::size_t first = std::min(bytes, to_page_end(from));
  std::memcpy(to, from, first);
  if (first == bytes) return bytes;
  return first + ask_kernel(static_cast<char*>(to) + first, static_cast<const char*>(from) + first,
                            bytes - first);
}

std::size_t read_anything(void* to, const void* from, std::size_t bytes) noexcept {
  return looks_mapped(from) && bytes > 0 ? ask_kernel(to, from, bytes) : 0;
}

std::size_t read_string(char* to, std::size_t capacity, const char* from) noexcept {
  std::size_t used = 0;
  while (used + 1 < capacity) {
    const std::size_t chunk = std::min(capacity - 1 - used, to_page_end(from + used));
    const std::size_t got = read_anything(to + used, from + used, chunk);
    const std::size_t length = strnlen(to + used, got);
    used += length;
    if (length < chunk) break;  // its end, or memory that is not there
  }
  to[used] = 0;
  return used;
}

}  // namespace teller::collector
