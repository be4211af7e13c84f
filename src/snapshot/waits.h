// What a thread waits for, read from its stack and its system call. Only library functions and
// system calls count: names of processes, threads and of the program's own files mean nothing here.
#pragma once

#include <string>
#include <string_view>

#include "snapshot/load.h"

namespace teller::snapshot_detail {

enum class WaitKind {
  kRunning,     // it waits for nothing
  kCollective,  // a collective or a message of other ranks
  kRendezvous,  // other ranks, to form a group
  kKvTransfer,  // KV blocks from another engine
  kGpu,         // the GPU to finish
  kLock,
  kGil,
  kQueue,      // an item of a queue, or room in it
  kCondition,  // a condition, an event, a future
  kThread,     // another thread's end
  kProcess,    // another process's end
  kPipe,       // data of another process: pipe, or a connection of multiprocessing
  kSocket,     // data from a peer
  kDisk,       // a disk or another device, in uninterruptible sleep
  kSleep,      // time
  kWork,       // input from outside: an event loop, accept(), a worker without work
  kStopped,    // by a signal
  kOther,
};

struct Wait {
  WaitKind kind = WaitKind::kOther;
  std::string detail;  // name of the collective, of the function, of the peer; "" = none
  int frame = -1;      // place in the stack that shows it; -1 = the system call does
};

// "collective", "kv_transfer", …: as in diagnosis.json.
std::string_view wait_name(WaitKind kind);
// "waits in the collective all_reduce", "sleeps".
std::string wait_words(const Wait& wait);

Wait wait_of(const SeenThread& thread, bool main_thread);

// The innermost frame of the program itself: Python code outside of the standard library and of
// installed packages; without one the innermost Python frame, then the innermost one. -1 = no
// stack.
int own_frame(const Stack& stack);
// "function (file.py:12)".
std::string frame_words(const Frame& frame);

}  // namespace teller::snapshot_detail
