// Writes NVTX events into the ring of the calling thread: no lock, no allocation, no system call
// but at a thread's first event. Everything here is [callback]: it runs inside the traced program.
#pragma once

#include <time.h>

#include <cstdint>

#include "preload/arena.h"
#include "teller/ring.h"

namespace teller::collector {

// Nanoseconds of CLOCK_MONOTONIC.
inline std::uint64_t now_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The text of an event: registered (string_id) or given here.
struct Text {
  const char* data = nullptr;
  std::uint32_t bytes = 0;
  std::uint32_t string_id = 0;  // not 0: registered, `data` is not used
  bool cut = false;
};

// A NUL-terminated string as Text, at most kMaxTextBytes of it.
Text text_of(const char* string) noexcept;

// What an NVTX call says.
struct NvtxEvent {
  std::uint32_t domain = 0;
  std::uint32_t category = 0;
  std::uint16_t flags = 0;  // RecordFlag: kHasValue and its type, kHasPayload
  std::uint64_t value = 0;
  Text text;
  const char* payload = nullptr;  // with kHasPayload: as it stands in the ring (teller/ring.h)
  std::uint32_t payload_bytes = 0;
};

void record_push(const NvtxEvent& event) noexcept;
// A pop or an end has a domain, and payloads at most.
void record_pop(const NvtxEvent& event) noexcept;
void record_mark(const NvtxEvent& event) noexcept;
// Returns the id of the range, for record_end on any thread.
std::uint64_t record_start(const NvtxEvent& event) noexcept;
void record_end(const NvtxEvent& event, std::uint64_t id) noexcept;

inline NvtxEvent in_domain(std::uint32_t domain) noexcept {
  NvtxEvent event;
  event.domain = domain;
  return event;
}
inline void record_pop(std::uint32_t domain) noexcept {
  record_pop(in_domain(domain));
}
inline void record_end(std::uint32_t domain, std::uint64_t id) noexcept {
  record_end(in_domain(domain), id);
}

}  // namespace teller::collector
