// Reads memory that the program has pointed us to, which may lie about its size. [callback]
#pragma once

#include <cstddef>
#include <cstdint>

namespace teller::collector {

// Copies up to `bytes` from `from`; returns how many could be read. Never faults on what lies
// beyond the first page; asks the kernel for that only. Keeps errno. [MT]
std::size_t read_within_page(void* to, const void* from, std::size_t bytes) noexcept;

// The same, asking the kernel for the first page too: for addresses that nobody has vouched for.
// Where the kernel does not answer (seccomp), nothing is read. [MT]
std::size_t read_anything(void* to, const void* from, std::size_t bytes) noexcept;

// Copies a NUL-terminated string of at most `capacity` - 1 bytes and terminates it; returns its
// length, 0 where it cannot be read. [MT]
std::size_t read_string(char* to, std::size_t capacity, const char* from) noexcept;

}  // namespace teller::collector
