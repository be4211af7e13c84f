#include "preload/nvtx_cuda.h"

#include "preload/cupti_source.h"
#include "preload/nvtx_handles.h"
#include "preload/nvtx_table.h"

namespace teller::collector {

namespace {

using ring::DefinitionKind;

// CUdevice and the runtime's device numbers are both int; contexts and streams are pointers, which
// only CUPTI can turn into the numbers that activities have. NVTX's own headers for them need
// cuda.h.
void name_device(int device, const Text& name) noexcept {
  define(DefinitionKind::kDeviceName, 0, static_cast<std::uint32_t>(device), name.data, name.bytes);
}
void name_context(void* context, const Text& name) noexcept {
  const CudaId id = id_of_context(context);
  const auto handle = reinterpret_cast<std::uintptr_t>(context);
  define(DefinitionKind::kContextName, id.known ? 0 : ring::kUnknownHandle,
         id.known ? id.id : handle, name.data, name.bytes);
}
void name_stream(void* stream, const Text& name) noexcept {
  const CudaId id = id_of_stream(stream);
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  define(DefinitionKind::kStreamName, id.known ? ring::kAnyContext : ring::kUnknownHandle,
         id.known ? id.id : handle, name.data, name.bytes);
}

void NVTX_API device_a(int device, const char* name) noexcept {
  name_device(device, text_of(name));
}
void NVTX_API device_w(int device, const wchar_t* name) noexcept {
  name_device(device, WideText(name).text());
}
void NVTX_API context_a(void* context, const char* name) noexcept {
  name_context(context, text_of(name));
}
void NVTX_API context_w(void* context, const wchar_t* name) noexcept {
  name_context(context, WideText(name).text());
}
void NVTX_API stream_a(void* stream, const char* name) noexcept {
  name_stream(stream, text_of(name));
}
void NVTX_API stream_w(void* stream, const wchar_t* name) noexcept {
  name_stream(stream, WideText(name).text());
}

const TableEntry kCuda[] = {
    {NVTX_CBID_CUDA_NameCuDeviceA, erase(device_a)},
    {NVTX_CBID_CUDA_NameCuDeviceW, erase(device_w)},
    {NVTX_CBID_CUDA_NameCuContextA, erase(context_a)},
    {NVTX_CBID_CUDA_NameCuContextW, erase(context_w)},
    {NVTX_CBID_CUDA_NameCuStreamA, erase(stream_a)},
    {NVTX_CBID_CUDA_NameCuStreamW, erase(stream_w)},
};

const TableEntry kCudaRuntime[] = {
    {NVTX_CBID_CUDART_NameCudaDeviceA, erase(device_a)},
    {NVTX_CBID_CUDART_NameCudaDeviceW, erase(device_w)},
    {NVTX_CBID_CUDART_NameCudaStreamA, erase(stream_a)},
    {NVTX_CBID_CUDART_NameCudaStreamW, erase(stream_w)},
};

}  // namespace

void attach_cuda_names(const NvtxExportTableCallbacks& callbacks) noexcept {
  fill_table(callbacks, NVTX_CB_MODULE_CUDA, kCuda);
  fill_table(callbacks, NVTX_CB_MODULE_CUDART, kCudaRuntime);
}

}  // namespace teller::collector
