// NVTX's payload extension: schemas, enumerations, and the payloads that events carry. What a
// payload means is worked out by the recorder; here its bytes are copied, bounded. [callback]
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>

#include "preload/recorder.h"

namespace teller::collector {

// The module's table of functions, as NVTX hands it to InitializeInjectionNvtxExtension. False: of
// another module. [MT]
bool attach_nvtx_payloads(const nvtxExtModuleInfo_t* module) noexcept;

inline bool is_extended(std::int32_t payload_type) noexcept {
  return payload_type == static_cast<std::int32_t>(NVTX_PAYLOAD_TYPE_EXT);
}

struct PayloadList {
  const nvtxPayloadData_t* first = nullptr;
  std::size_t count = 0;
};

// The payloads that an event's attributes point to.
inline PayloadList payloads_of(const nvtxEventAttributes_t& attributes) noexcept {
  const auto address = static_cast<std::uintptr_t>(attributes.payload.ullValue);
  const std::int32_t count = attributes.reserved0;
  return {reinterpret_cast<const nvtxPayloadData_t*>(address),
          count > 0 ? static_cast<std::size_t>(count) : 0};
}

// Copies of an event's payloads, as they stand in a ring.
class PayloadCopy {
 public:
  PayloadCopy(const PayloadList& list, std::uint32_t domain) noexcept;
  void attach(NvtxEvent* event) noexcept;

 private:
  void add(const nvtxPayloadData_t& data, std::uint32_t domain) noexcept;

  static constexpr std::uint32_t kHeader = 8;  // count and bytes
  static constexpr std::uint32_t kRoom =
      kHeader + ring::kMaxPayloads * (sizeof(ring::PayloadRecord) + 8) + ring::kMaxPayloadBytes;
  alignas(8) char buffer_[kRoom];
  std::uint32_t used_ = kHeader;
  std::uint32_t count_ = 0;
  std::uint32_t left_ = ring::kMaxPayloadBytes;
};

// Calls `use` with the event and its payloads, which live as long as the call.
template <typename Use>
auto with_payloads(const PayloadList& list, NvtxEvent& event, Use use) {
  PayloadCopy copy(list, event.domain);
  copy.attach(&event);
  return use(event);
}

}  // namespace teller::collector
