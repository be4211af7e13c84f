#include "preload/nvtx_payload.h"

#include <algorithm>
#include <cstring>

#include "preload/nvtx_handles.h"
#include "preload/nvtx_schema.h"
#include "preload/safe_read.h"

namespace teller::collector {

namespace {

constexpr std::size_t kUnknownSize = ~std::size_t{0};
constexpr int kNoTracking = NVTX_NO_PUSH_POP_TRACKING;

// How much of a payload is worth reading, whatever its size is said to be.
std::size_t bytes_worth(const nvtxPayloadData_t& data, std::uint32_t domain) noexcept {
  const std::size_t known = static_size(domain, data.schemaId);
  if (known != 0) return std::min(known, data.size);
  if (data.size != kUnknownSize) return data.size;
  // Of unknown size: a string, or a value of a predefined type.
  const bool string = data.schemaId >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING &&
                      data.schemaId <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
  return string ? kUnknownSize : data.schemaId < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START ? 16 : 0;
}

// Calls `use` with an event that consists of payloads alone; one of them may hold its message.
template <typename Use>
auto with_event(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count,
                Use use) {
  NvtxEvent event = in_domain(domain_id(domain));
  return with_payloads({data, count}, event, use);
}

std::uint64_t NVTX_API on_schema(nvtxDomainHandle_t domain,
                                 const nvtxPayloadSchemaAttr_t* attributes) noexcept {
  return register_schema(domain_id(domain), attributes);
}
std::uint64_t NVTX_API on_enum(nvtxDomainHandle_t domain,
                               const nvtxPayloadEnumAttr_t* attributes) noexcept {
  return register_enum(domain_id(domain), attributes);
}
void NVTX_API on_mark(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                      std::size_t count) noexcept {
  with_event(domain, data, count, [](const NvtxEvent& event) { record_mark(event); });
}
int NVTX_API on_push(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                     std::size_t count) noexcept {
  with_event(domain, data, count, [](const NvtxEvent& event) { record_push(event); });
  return kNoTracking;
}
int NVTX_API on_pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                    std::size_t count) noexcept {
  with_event(domain, data, count, [](const NvtxEvent& event) { record_pop(event); });
  return kNoTracking;
}
nvtxRangeId_t NVTX_API on_start(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                                std::size_t count) noexcept {
  return with_event(domain, data, count,
                    [](const NvtxEvent& event) { return record_start(event); });
}
void NVTX_API on_end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* data,
                     std::size_t count) noexcept {
  with_event(domain, data, count, [&](const NvtxEvent& event) { record_end(event, id); });
}

template <typename Function>
std::intptr_t slot_of(Function* function) noexcept {
  return reinterpret_cast<std::intptr_t>(function);
}

}  // namespace

PayloadCopy::PayloadCopy(const PayloadList& list, std::uint32_t domain) noexcept {
  nvtxPayloadData_t all[ring::kMaxPayloads];
  const std::size_t wanted = std::min<std::size_t>(list.count, ring::kMaxPayloads) * sizeof *all;
  const std::size_t count = read_within_page(all, list.first, wanted) / sizeof *all;
  for (std::size_t i = 0; i < count; ++i) add(all[i], domain);
}

void PayloadCopy::add(const nvtxPayloadData_t& data, std::uint32_t domain) noexcept {
  ring::PayloadRecord record{data.schemaId, reinterpret_cast<std::uintptr_t>(data.payload),
                             data.size, 0, 0};
  char* place = buffer_ + used_ + sizeof record;
  const std::size_t wanted = std::min<std::size_t>(bytes_worth(data, domain), left_);
  record.bytes = static_cast<std::uint32_t>(read_within_page(place, data.payload, wanted));
  std::memcpy(buffer_ + used_, &record, sizeof record);
  const std::uint32_t padded = ring::round_up_8(record.bytes);
  std::memset(place + record.bytes, 0, padded - record.bytes);
  used_ += static_cast<std::uint32_t>(sizeof record) + padded;
  left_ -= record.bytes;
  ++count_;
}

void PayloadCopy::attach(NvtxEvent* event) noexcept {
  if (count_ == 0) return;
  const std::uint32_t head[2] = {count_, used_ - kHeader};
  std::memcpy(buffer_, head, sizeof head);
  event->flags |= ring::kHasPayload;
  event->payload = buffer_;
  event->payload_bytes = used_;
}

bool attach_nvtx_payloads(const nvtxExtModuleInfo_t* module) noexcept {
  if (module == nullptr || module->structSize < sizeof *module ||
      module->moduleId != NVTX_EXT_PAYLOAD_MODULEID || module->segmentsCount == 0 ||
      module->segments == nullptr || !ensure_arena()) {
    return false;
  }
  const nvtxExtModuleSegment_t& segment = module->segments[0];
  if (segment.functionSlots == nullptr) return false;
  const std::intptr_t functions[] = {slot_of(on_schema), slot_of(on_enum), slot_of(on_mark),
                                     slot_of(on_push),   slot_of(on_pop),  slot_of(on_start),
                                     slot_of(on_end)};
  static_assert(NVTX3EXT_CBID_nvtxPayloadSchemaRegister == 0 &&
                NVTX3EXT_CBID_nvtxRangeEndPayload == 6);
  const std::size_t slots = std::min<std::size_t>(segment.slotCount, std::size(functions));
  for (std::size_t slot = 0; slot < slots; ++slot) segment.functionSlots[slot] = functions[slot];
  return true;
}

}  // namespace teller::collector
