// Writes CUDA calls and device activities into the ring of the calling thread: no lock, no
// allocation, no system call but in record_device(), which may wait. [callback]
#pragma once

#include <cstdint>

#include "preload/recorder.h"

namespace teller::collector {

// What a call of the runtime or driver says when it begins.
struct CallBegin {
  std::uint32_t correlation = 0;
  bool driver = false;
  const char* name = "";
  std::uint64_t begin_ns = 0;
};

// A call begins: makes it visible as open.
void record_call_begin(const CallBegin& call) noexcept;

// What it launched, if it did, and whether it begins or ends the capture of a stream.
struct LaunchedWork {
  bool any = false;
  bool graph = false;
  const char* name = nullptr;  // of the kernel, or of the call for a graph
  bool begins_capture = false;
  bool ends_capture = false;
};

// It ends, on the same thread. A launch that succeeded is kept in view: the latest ones of each
// thread. None while the thread captures a stream: what it launches then becomes part of a graph,
// and no activity comes of it. A driver call within a runtime call is kept with that one:
// activities have the id of one of the two.
void record_call_end(ring::ApiRecord call, const char* name, const LaunchedWork& work) noexcept;

// Whether `result` is an asynchronous error: its context answers it from now on, and the call that
// reports it is seldom the one at fault.
bool is_asynchronous_error(std::int32_t result) noexcept;

// How long the device activities that arrive together (a buffer of CUPTI's) may wait for room, all
// of them together: they come in bursts, on a thread that the program may be waiting for.
struct WaitBudget {
  std::uint64_t left_ns = 60000000;  // twice the recorder's longest rest
  std::uint64_t drains = 0;          // ArenaHeader::drains at the first wait
  bool used = false;
};

// A device activity. While the ring is full and the recorder at work it waits, as long as `budget`
// lasts.
void record_device(ring::DeviceRecord activity, const char* name, WaitBudget& budget) noexcept;
// Whether nothing is kept any more: a limit was reached, or the disk is full.
bool capture_has_stopped() noexcept;

}  // namespace teller::collector
