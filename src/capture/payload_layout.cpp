#include "capture/payload_layout.h"

#include <algorithm>

#include "capture/payload_values.h"

namespace teller::capture {

namespace {

constexpr std::uint32_t kMaxSteps = 8192;  // values, and entries looked at to find sizes

}  // namespace

nvtx::Array array_of(const PayloadEntry& entry) {
  return static_cast<nvtx::Array>(entry.flags >> 4 & 7);
}

bool is_indirect(const PayloadEntry& entry) {
  return (entry.flags & (nvtx::kPointer | nvtx::kFromBase | nvtx::kFromHere)) != 0;
}

std::uint64_t round_up_to(std::uint64_t number, std::uint64_t alignment) {
  return alignment < 2 ? number : (number + alignment - 1) / alignment * alignment;
}

void PayloadLayouts::begin(std::uint32_t domain) {
  domain_ = domain;
  left_ = kMaxSteps;
}

bool PayloadLayouts::spend() {
  if (left_ == 0) return false;
  --left_;
  return true;
}

// Size and alignment of one element of that type; of a structure the sum of its entries.
PayloadLayout PayloadLayouts::of(std::uint64_t type, std::uint32_t pack, int depth) {
  PayloadLayout layout;
  if (type < nvtx::kFirstStaticSchema) {
    layout.size = size_of_type(type);
    layout.alignment = layout.size;
  } else if (const PayloadSchema* schema = find(type)) {
    layout = schema->is_enum ? PayloadLayout{schema, schema->bytes, schema->bytes}
                             : of_struct(*schema, depth);
  }
  if (pack != 0) layout.alignment = std::min<std::uint64_t>(layout.alignment, pack);
  layout.alignment = std::clamp<std::uint64_t>(layout.alignment, 1, 16);
  return layout;
}

PayloadLayout PayloadLayouts::of_struct(const PayloadSchema& schema, int depth) {
  PayloadLayout layout{&schema, schema.bytes, 1};
  if (depth >= kMaxPayloadDepth) return layout;
  std::uint64_t end = 0;
  bool known = true;
  for (const PayloadEntry& entry : schema.entries) {
    if (!spend()) return layout;
    PayloadLayout inner = of(entry.type, schema.pack, depth + 1);
    if (character_size(entry.type) != 0) inner.size = character_size(entry.type);
    if (is_indirect(entry)) inner = {nullptr, kPayloadPointerBytes, kPayloadPointerBytes};
    const nvtx::Array array = array_of(entry);
    const bool fixed = array == nvtx::Array::kFixed ||
                       (array == nvtx::Array::kNone && character_size(entry.type) != 0);
    known =
        known && inner.size != 0 && (fixed || array == nvtx::Array::kNone || is_indirect(entry));
    const std::uint64_t count =
        fixed && !is_indirect(entry) ? std::min<std::uint64_t>(entry.detail, 1u << 20) : 1;
    const std::uint64_t begin = schema.type == nvtx::kUnion ? 0
                                : entry.offset != 0
                                    ? std::min<std::uint64_t>(entry.offset, 1u << 30)
                                    : round_up_to(end, inner.alignment);
    const std::uint64_t after = begin + std::min<std::uint64_t>(inner.size, 1u << 20) * count;
    end = schema.type == nvtx::kUnion ? std::max(end, after)
                                      : std::min<std::uint64_t>(after, std::uint64_t{1} << 40);
    layout.alignment = std::max(layout.alignment, inner.alignment);
  }
  if (layout.size == 0 && known) layout.size = round_up_to(end, layout.alignment);
  return layout;
}

}  // namespace teller::capture
