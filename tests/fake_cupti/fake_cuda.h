// Fake calls of the CUDA runtime and driver: they fire CUPTI's callbacks and make activities.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

// Launches a kernel that takes `duration_us`, on a stream of a context; answers as
// cudaLaunchKernel.
int fake_launch(const char* kernel, unsigned context, unsigned stream, unsigned duration_us);
// The same through the driver alone, as Triton does.
int fake_driver_launch(const char* kernel, unsigned context, unsigned stream);
// Launches a graph of `kernels` kernels.
int fake_graph_launch(unsigned graph, unsigned kernels, unsigned context, unsigned stream);
int fake_memcpy(unsigned long bytes, unsigned context, unsigned stream);
int fake_malloc(unsigned long bytes, unsigned context);
// cudaStreamSynchronize; with `seconds`, it takes so long.
int fake_synchronize(unsigned context, unsigned stream, unsigned seconds);
// Begins or ends the capture of a stream by this thread; answers `result`. What it launches
// meanwhile runs not now.
int fake_begin_capture(int result);
int fake_end_capture(int result);
// Kernels of the context do not end any more, and after the next launch its calls answer `error`.
void fake_poison(unsigned context, int error);

#ifdef __cplusplus
}
#endif
