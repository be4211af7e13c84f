// A CUDA program without nvcc and without the runtime: the driver is loaded at run time, the
// kernels are PTX. Builds anywhere; without a GPU it says so and ends with 77.
#include <dlfcn.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNoGpu = 77;
constexpr int kCaptureRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED

// add_one adds one to what it points to; wild writes to where nothing is.
constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry add_one(.param .u64 pointer)
{
  .reg .u64 %a;
  .reg .u32 %v;
  ld.param.u64 %a, [pointer];
  ld.global.u32 %v, [%a];
  add.u32 %v, %v, 1;
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry wild(.param .u64 pointer)
{
  .reg .u64 %a;
  .reg .u32 %v;
  mov.u64 %a, 4096;
  mov.u32 %v, 1;
  st.global.u32 [%a], %v;
  ret;
}
)";

void* g_driver = nullptr;

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(g_driver, name));
  if (function == nullptr) {
    std::printf("the driver has no %s\n", name);
    std::exit(2);
  }
  return function(arguments...);
}

template <typename... Arguments>
void must(const char* name, Arguments... arguments) {
  const int result = call(name, arguments...);
  if (result == 0) return;
  std::printf("%s answered %d\n", name, result);
  std::exit(3);
}

struct Gpu {
  void* context = nullptr;
  void* module = nullptr;
  void* stream = nullptr;
  std::uint64_t memory = 0;  // CUdeviceptr
};

Gpu open_gpu() {
  g_driver = dlopen("libcuda.so.1", RTLD_NOW);
  int count = 0;
  if (g_driver == nullptr || call("cuInit", 0u) != 0 || call("cuDeviceGetCount", &count) != 0 ||
      count == 0) {
    std::puts("no NVIDIA GPU in this machine");
    std::exit(kNoGpu);
  }
  Gpu gpu;
  must("cuDevicePrimaryCtxRetain", &gpu.context, 0);
  must("cuCtxSetCurrent", gpu.context);
  must("cuModuleLoadData", &gpu.module, static_cast<const void*>(kPtx));
  must("cuStreamCreate", &gpu.stream, 1u);
  must("cuMemAlloc_v2", &gpu.memory, std::size_t{4096});
  must("cuMemsetD8_v2", gpu.memory, static_cast<unsigned char>(0), std::size_t{4096});
  return gpu;
}

int launch(const Gpu& gpu, const char* kernel) {
  void* function = nullptr;
  must("cuModuleGetFunction", &function, gpu.module, kernel);
  std::uint64_t memory = gpu.memory;
  void* parameters[] = {&memory};
  void** extra = nullptr;
  return call("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, gpu.stream,
              static_cast<void**>(parameters), extra);
}

double seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void run_launches(const Gpu& gpu, int count) {
  void* function = nullptr;
  must("cuModuleGetFunction", &function, gpu.module, "add_one");
  std::uint64_t memory = gpu.memory;
  void* parameters[] = {&memory};
  void** extra = nullptr;
  const double begin = seconds();
  for (int i = 0; i < count; ++i) {
    must("cuLaunchKernel", function, 1u, 1u, 1u, 1u, 1u, 1u, 0u, gpu.stream,
         static_cast<void**>(parameters), extra);
    if (i % 512 == 511) must("cuStreamSynchronize", gpu.stream);
  }
  must("cuStreamSynchronize", gpu.stream);
  std::printf("ns_per_launch %.0f\n", (seconds() - begin) / count * 1e9);
}

void run_graph(const Gpu& gpu, int launches) {
  void* graph = nullptr;
  void* executable = nullptr;
  must("cuStreamBeginCapture_v2", gpu.stream, kCaptureRelaxed);
  for (int i = 0; i < 4; ++i) {
    if (launch(gpu, "add_one") != 0) std::exit(4);
  }
  must("cuStreamEndCapture", gpu.stream, &graph);
  must("cuGraphInstantiateWithFlags", &executable, graph, 0ull);
  for (int i = 0; i < launches; ++i) must("cuGraphLaunch", executable, gpu.stream);
  must("cuStreamSynchronize", gpu.stream);
}

std::uint32_t value_of(const Gpu& gpu) {
  std::uint32_t value = 0;
  must("cuMemcpyDtoH_v2", static_cast<void*>(&value), gpu.memory, sizeof value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "launches";
  const int count = argc > 2 ? std::atoi(argv[2]) : 10;
  const Gpu gpu = open_gpu();
  if (std::strcmp(what, "launches") == 0) run_launches(gpu, count);
  if (std::strcmp(what, "graph") == 0) run_graph(gpu, count);
  if (std::strcmp(what, "wild") == 0) {
    for (int i = 0; i < count; ++i) launch(gpu, "add_one");
    call("cuStreamSynchronize", gpu.stream);
    launch(gpu, "wild");
    std::printf("synchronize %d\n", call("cuStreamSynchronize", gpu.stream));
    return 0;
  }
  std::printf("value %u\n", value_of(gpu));
  return 0;
}
