#include "preload/cupti_buffers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "preload/cuda_recorder.h"
#include "preload/cupti_api.h"
#include "preload/cupti_clock.h"
#include "preload/cupti_records.h"

namespace teller::collector {

namespace {

// Small buffers, so that an activity reaches its ring soon; CUPTI holds one per context and thread.
constexpr std::size_t kBufferBytes = 256 << 10;
constexpr std::size_t kBuffers = 64;
constexpr long kFlushPeriodNs = 100'000'000;
constexpr int kFlushesPerClock = 10;  // the clocks are compared once a second

char* g_pool = nullptr;  // touched as used
std::atomic<bool> g_taken[kBuffers];
pid_t g_owner = 0;  // who started CUPTI: a forked child has its atexit handlers, but no CUPTI

// Whether the flushing thread is at work; a process that ends must not end under it.
enum Flusher : std::uint32_t { kIdle = 0, kFlushing = 1, kStopped = 2 };
std::atomic<std::uint32_t> g_flusher{kIdle};

ring::CudaState* state() noexcept {
  ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  return arena == nullptr ? nullptr : &arena->cuda;
}

std::uint8_t* take_buffer() noexcept {
  for (std::size_t i = 0; i < kBuffers; ++i) {
    if (g_taken[i].load(std::memory_order_relaxed) || g_taken[i].exchange(true)) continue;
    return reinterpret_cast<std::uint8_t*>(g_pool + i * kBufferBytes);
  }
  return nullptr;
}

void give_back(const std::uint8_t* buffer) noexcept {
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const char*>(buffer) - g_pool);
  if (offset < kBuffers * kBufferBytes) g_taken[offset / kBufferBytes].store(false);
}

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) noexcept {
  *buffer = take_buffer();
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;
  if (*buffer != nullptr) return;
  if (ring::CudaState* cuda = state()) {
    cuda->buffers_refused.fetch_add(1, std::memory_order_relaxed);
  }
}

void count_dropped(CUcontext context, std::uint32_t stream) noexcept {
  std::size_t dropped = 0;
  if (g_cupti.dropped_records(context, stream, &dropped) != CUPTI_SUCCESS || dropped == 0) return;
  if (ring::ArenaHeader* arena = g_arena.load(std::memory_order_acquire)) {
    arena->device_dropped.fetch_add(dropped, std::memory_order_relaxed);
  }
}

void CUPTIAPI on_buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t, std::size_t valid_bytes) noexcept {
  CUpti_Activity* record = nullptr;
  WaitBudget budget;
  while (valid_bytes > 0 && !capture_has_stopped() &&
         g_cupti.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    record_activity(record, buffer + valid_bytes, budget);
  }
  count_dropped(context, stream);
  give_back(buffer);
}

// False once the process is ending.
bool flush_once(bool with_clock) noexcept {
  std::uint32_t expected = kIdle;
  if (!g_flusher.compare_exchange_strong(expected, kFlushing)) return false;
  if (!capture_has_stopped()) {
    if (with_clock) follow_cupti_clock();
    g_cupti.flush_all(0);
  }
  g_flusher.store(kIdle);
  return true;
}

void* flush_again_and_again(void*) noexcept {
  for (int turn = 1;; ++turn) {
    const timespec pause{0, kFlushPeriodNs};
    nanosleep(&pause, nullptr);
    if (!flush_once(turn % kFlushesPerClock == 0)) return nullptr;
  }
}

// At exit: waits for a flush that is under way (2 s at most), then asks for what is left, complete
// or not.
void flush_at_exit() noexcept {
  if (getpid() != g_owner || capture_has_stopped()) return;
  for (int i = 0; i < 2000; ++i) {
    std::uint32_t expected = kIdle;
    if (g_flusher.compare_exchange_strong(expected, kStopped)) {
      g_cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
      return;
    }
    const timespec pause{0, 1000000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace

bool start_cupti_buffers() noexcept {
  void* memory = mmap(nullptr, kBuffers * kBufferBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  g_pool = static_cast<char*>(memory);
  return g_cupti.register_callbacks(on_buffer_requested, on_buffer_completed) == CUPTI_SUCCESS;
}

void start_cupti_flushes() noexcept {
  g_owner = getpid();
  std::atexit(flush_at_exit);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, flush_again_and_again, nullptr) == 0) {
    pthread_setname_np(thread, "teller-flush");
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace teller::collector
