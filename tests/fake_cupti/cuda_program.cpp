// A small "CUDA program" on the fake libcupti. As the driver would, it calls the injection that
// CUDA_INJECTION64_PATH names, before anything else.
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "fake_cuda.h"

namespace {

void* g_library = nullptr;

template <typename Function>
Function* find(const char* name) {
  void* found = g_library == nullptr ? nullptr : dlsym(g_library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "cuda_program: %s is not in TELLER_CUPTI\n", name);
    std::exit(90);
  }
  return reinterpret_cast<Function*>(found);
}
#define CALL(function) find<decltype(function)>(#function)

void load_fake() {
  const char* path = std::getenv("TELLER_CUPTI");
  if (path != nullptr) g_library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

void initialise_cuda() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  void* injection = path == nullptr ? nullptr : dlopen(path, RTLD_NOW);
  void* entry = injection == nullptr ? nullptr : dlsym(injection, "InitializeInjection");
  if (entry == nullptr) {
    std::puts("no injection");
  } else if (reinterpret_cast<int (*)()>(entry)() != 1) {
    std::puts("the injection failed");
  }
}

void work(int launches) {
  for (int i = 0; i < launches; ++i) CALL(fake_launch)("gemm_kernel", 1, 7, 2);
  CALL(fake_driver_launch)("triton_kernel", 1, 13);
  CALL(fake_memcpy)(4096, 1, 7);
  CALL(fake_malloc)(1 << 20, 1);
  CALL(fake_graph_launch)(5, 3, 1, 7);
  CALL(fake_synchronize)(1, 7, 0);
}

// An illegal address: kernels are launched, and an innocent call reports it.
void poisoned(int error) {
  for (int i = 0; i < 3; ++i) CALL(fake_launch)("good_kernel", 1, 7, 2);
  find<int(unsigned)>("cuptiActivityFlushAll")(0);  // their activities come
  CALL(fake_launch)("other_context_kernel", 2, 7, 2);
  CALL(fake_poison)(1, error);
  CALL(fake_launch)("bad_kernel", 1, 7, 2);
  std::printf("memcpy %d\n", CALL(fake_memcpy)(64, 1, 7));
  std::printf("synchronize %d\n", CALL(fake_synchronize)(1, 7, 0));
  std::printf("other context %d\n", CALL(fake_synchronize)(2, 7, 0));
}

// A kernel that never ends, and a host that waits for it.
void hang() {
  CALL(fake_launch)("good_kernel", 1, 7, 2);
  usleep(300000);
  CALL(fake_poison)(1, 700);  // its activity never comes
  CALL(fake_launch)("endless_kernel", 1, 7, 2);
  std::thread([] {
    usleep(1500000);
    kill(getpid(), SIGKILL);
  }).detach();
  CALL(fake_synchronize)(1, 7, 60);
}

// Kernels that become parts of graphs, and one after them that never ends.
void capture() {
  for (const int result : {0, 901}) {  // well, and spoilt
    CALL(fake_begin_capture)(0);
    CALL(fake_launch)("captured_kernel", 1, 7, 2);
    CALL(fake_driver_launch)("captured_kernel", 1, 7);
    CALL(fake_end_capture)(result);
  }
  CALL(fake_begin_capture)(900);  // refused
  CALL(fake_graph_launch)(5, 2, 1, 7);
  CALL(fake_poison)(1, 700);
  CALL(fake_launch)("endless_kernel", 1, 7, 2);
  usleep(1500000);
}

void fork_after_init() {
  work(2);
  const pid_t child = fork();
  if (child == 0) std::exit(0);  // with all exit handlers
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  work(1);
}

void many_threads(int threads, int launches) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([=] {
      for (int n = 0; n < launches; ++n) CALL(fake_launch)("thread_kernel", 1, 7, 1);
    });
  }
  for (std::thread& thread : all) thread.join();
}

// More records than the collector has buffers for, with none handed over.
void flood(int launches) {
  find<void(int)>("fake_hoard")(1);
  for (int i = 0; i < launches; ++i) CALL(fake_launch)("flood_kernel", 1, 7, 1);
  find<void(int)>("fake_hoard")(0);
}

// A stream's handle is its number here.
template <typename Handle>
Handle handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

void names() {
  nvtxNameCuDeviceA(0, "the only one");
  nvtxNameCuContextA(handle<CUcontext>(1), "main context");
  nvtxNameCudaStreamA(handle<cudaStream_t>(7), "decode");
  nvtxNameCuStreamW(handle<CUstream>(13), L"copies \x4e2d");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* value = argc > 2 ? argv[2] : "";
  load_fake();
  if (what == "second") {
    void* subscriber = nullptr;
    find<int(void**, void (*)(void*, int, unsigned, const void*), void*)>("cuptiSubscribe")(
        &subscriber, [](void*, int, unsigned, const void*) {}, nullptr);
  }
  initialise_cuda();
  if (what == "replay") return find<int(const char*)>("fake_replay")(value) < 0 ? 91 : 0;
  if (what == "work" || what == "second") work(3);
  if (what == "second") std::printf("clock %d\n", find<int()>("fake_has_clock")());
  if (what == "poisoned") poisoned(std::atoi(value));
  if (what == "hang") hang();
  if (what == "capture") capture();
  if (what == "fork") fork_after_init();
  if (what == "names") {
    names();
    work(1);
  }
  if (what == "threads") many_threads(std::atoi(value), 200);
  if (what == "flood") flood(std::atoi(value));
  if (what == "subscriber") std::printf("%d\n", find<int()>("fake_has_subscriber")());
  if (what == "wait") {
    work(1);
    usleep(2300000);
    work(1);
  }
  return 0;
}
