// Writes events into the ring of the calling thread: no lock, no allocation, no system call but at
// a thread's first event and in record_device(). Everything here is [callback]: it runs inside the
// traced program.
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
  std::uint16_t flags = 0;  // RecordFlag: kHasValue and its type
  std::uint64_t value = 0;
  Text text;
};

void record_push(const NvtxEvent& event) noexcept;
void record_pop(std::uint32_t domain) noexcept;
void record_mark(const NvtxEvent& event) noexcept;
// Returns the id of the range, for record_end on any thread.
std::uint64_t record_start(const NvtxEvent& event) noexcept;
void record_end(std::uint32_t domain, std::uint64_t id) noexcept;

// A runtime or driver call begins: makes it visible as open.
void record_call_begin(std::uint32_t correlation, bool driver, const char* name,
                       std::uint64_t begin_ns) noexcept;
// It ends, on the same thread.
void record_call_end(ring::ApiRecord call, const char* name) noexcept;
// How long the device activities that arrive together (a buffer of CUPTI's) may wait for room, all
// of them together: they come in bursts, on a thread that the program may be waiting for.
struct WaitBudget {
  std::uint64_t left_ns = 20000000;
  std::uint64_t drains = 0;  // ArenaHeader::drains at the first wait
  bool used = false;
};

// A device activity. While the ring is full and the recorder at work it waits, as long as `budget`
// lasts.
void record_device(ring::DeviceRecord activity, const char* name, WaitBudget& budget) noexcept;
// Whether nothing is kept any more: a limit was reached, or the disk is full.
bool capture_has_stopped() noexcept;

}  // namespace teller::collector
