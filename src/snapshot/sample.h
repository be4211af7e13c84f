// Threads as /proc shows them at one moment, without stopping them.
#pragma once

#include "snapshot/facts.h"

namespace teller::snapshot_detail {

// Adds one sample to each thread of the process (state, CPU time, system call, wait channel), and
// refreshes the process's state. Threads that have ended are taken out and counted.
void sample_threads(Process& process);
// The kernel's side of each thread's stack, where it may be seen (root only).
void read_kernel_stacks(Process& process);
// Finds, for threads that wait for a pthread mutex, the thread that holds it.
void find_lock_owners(Process& process);

// Name of a system call that waits ("futex", "epoll_wait"); its number as text for others.
std::string syscall_name(int number);
// Whether the sample is in a futex wait without a time limit.
bool waits_for_ever(const ThreadSample& sample);

}  // namespace teller::snapshot_detail
