#include "preload/nvtx_schema.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "preload/arena.h"
#include "preload/nvtx_handles.h"
#include "preload/safe_read.h"

namespace teller::collector {

namespace {

constexpr std::size_t kNameBytes = 256;  // of a schema or an entry
std::atomic<std::uint64_t> g_next_schema{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};

// Sizes of registered schemas, found by (domain, id); what does not fit has no known size.
struct KnownSize {
  std::atomic<std::uint64_t> key;
  std::atomic<std::uint64_t> bytes;
};
constexpr std::size_t kKnownSizes = 2048;
KnownSize g_sizes[kKnownSizes];

// 0 for no key.
std::uint64_t key_of(std::uint32_t domain, std::uint64_t schema) noexcept {
  if (schema >> 36 != 0 || domain >> 28 != 0) return 0;  // more than there is room to define
  return schema << 28 | domain;
}

std::size_t place_of(std::uint64_t key) noexcept {
  return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15u) >> 53);
}
static_assert(kKnownSizes == std::size_t{1} << (64 - 53));

void keep_size(std::uint32_t domain, std::uint64_t schema, std::uint64_t bytes) noexcept {
  const std::uint64_t key = key_of(domain, schema);
  if (key == 0) return;
  for (std::size_t i = 0; i < 16; ++i) {
    KnownSize& known = g_sizes[(place_of(key) + i) % kKnownSizes];
    std::uint64_t expected = 0;
    if (!known.key.compare_exchange_strong(expected, key) && expected != key) continue;
    known.bytes.store(bytes, std::memory_order_relaxed);
    return;
  }
}

// A definition's text while it is put together. On the heap: threads may have small stacks.
class Writer {
 public:
  Writer() noexcept : text_(static_cast<char*>(std::malloc(ring::kMaxTextBytes))) {}
  ~Writer() { std::free(text_); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool usable() const noexcept { return text_ != nullptr; }
  // The name that `from` points to, behind `room` bytes for what stands before it; its length.
  std::uint32_t name(const char* from, std::uint32_t room) noexcept {
    const std::size_t bytes =
        from == nullptr ? 0 : read_string(text_ + used_ + room, kNameBytes, from);
    return static_cast<std::uint32_t>(bytes);
  }
  template <typename Fixed>
  void put(const Fixed& fixed, std::uint32_t name_bytes) noexcept {
    std::memcpy(text_ + used_, &fixed, sizeof fixed);
    used_ += static_cast<std::uint32_t>(sizeof fixed) + name_bytes;
  }
  void replace_head(const ring::SchemaDefinition& head) noexcept {
    std::memcpy(text_, &head, sizeof head);
  }
  bool define(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id) const noexcept {
    return collector::define(kind, domain, id, text_, used_);
  }

 private:
  char* text_;
  std::uint32_t used_ = 0;
};
static_assert(sizeof(ring::SchemaDefinition) + kNameBytes +
                  ring::kMaxSchemaEntries * (sizeof(ring::SchemaEntry) + kNameBytes) <=
              ring::kMaxTextBytes);

ring::SchemaEntry entry_of(const nvtxPayloadSchemaEntry_t& entry) noexcept {
  return {entry.flags, entry.type, entry.arrayOrUnionDetail, entry.offset, 0, 0};
}
ring::SchemaEntry entry_of(const nvtxPayloadEnum_t& entry) noexcept {
  return {entry.isFlag != 0 ? std::uint64_t{1} : 0, entry.value, 0, 0, 0, 0};
}

// Head, then entries, as far as they are there and fit.
template <typename Entry>
void put_all(Writer& writer, ring::SchemaDefinition head, const char* name, const Entry* entries,
             std::size_t count) noexcept {
  head.name_bytes = writer.name(name, sizeof head);
  writer.put(head, head.name_bytes);
  const std::size_t wanted = std::min<std::size_t>(count, ring::kMaxSchemaEntries);
  while (head.entries < wanted) {
    Entry source;
    if (read_anything(&source, entries + head.entries, sizeof source) != sizeof source) break;
    ring::SchemaEntry entry = entry_of(source);
    entry.name_bytes = writer.name(source.name, sizeof entry);
    writer.put(entry, entry.name_bytes);
    ++head.entries;
  }
  const std::size_t left_out = count - head.entries;
  head.left_out = static_cast<std::uint32_t>(std::min<std::size_t>(left_out, 0xffffffff));
  writer.replace_head(head);
}

bool is_given(std::uint64_t mask, std::uint64_t field) noexcept {
  return (mask & field) != 0;
}

// The program's own id if it may choose one, else the next of ours.
std::uint64_t id_of(bool given, std::uint64_t id) noexcept {
  const bool allowed =
      id >= NVTX_PAYLOAD_SCHEMA_ID_STATIC_START && id < NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START;
  return given && allowed ? id : g_next_schema.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::uint64_t register_schema(std::uint32_t domain,
                              const nvtxPayloadSchemaAttr_t* attributes) noexcept {
  nvtxPayloadSchemaAttr_t given;
  if (read_anything(&given, attributes, sizeof given) != sizeof given) return 0;
  const std::uint64_t mask = given.fieldMask;
  Writer writer;
  if (!writer.usable() || given.entries == nullptr ||
      !is_given(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES)) {
    return 0;
  }
  ring::SchemaDefinition head{};
  head.type = given.type;
  if (is_given(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) {
    head.bytes = given.payloadStaticSize;
  }
  if (is_given(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) {
    head.pack = static_cast<std::uint32_t>(std::min<std::size_t>(given.packAlign, 4096));
  }
  // NCCL sets a name without saying so in the mask.
  put_all(writer, head, given.name, given.entries, given.numEntries);
  const std::uint64_t id =
      id_of(is_given(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID), given.schemaId);
  if (!writer.define(ring::DefinitionKind::kSchema, domain, id)) return 0;
  if (head.bytes != 0 && head.type == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC) {
    keep_size(domain, id, head.bytes);
  }
  return id;
}

std::uint64_t register_enum(std::uint32_t domain,
                            const nvtxPayloadEnumAttr_t* attributes) noexcept {
  nvtxPayloadEnumAttr_t given;
  if (read_anything(&given, attributes, sizeof given) != sizeof given) return 0;
  const std::uint64_t mask = given.fieldMask;
  Writer writer;
  if (!writer.usable() || given.entries == nullptr ||
      !is_given(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES)) {
    return 0;
  }
  ring::SchemaDefinition head{};
  head.bytes = is_given(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) ? given.sizeOfEnum : sizeof(int);
  put_all(writer, head, given.name, given.entries, given.numEntries);
  const std::uint64_t id =
      id_of(is_given(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID), given.schemaId);
  if (!writer.define(ring::DefinitionKind::kEnum, domain, id)) return 0;
  if (head.bytes <= 8) keep_size(domain, id, head.bytes);
  return id;
}

std::size_t static_size(std::uint32_t domain, std::uint64_t schema) noexcept {
  if (schema < NVTX_PAYLOAD_SCHEMA_ID_STATIC_START) return 0;
  const std::uint64_t key = key_of(domain, schema);
  if (key == 0) return 0;
  for (std::size_t i = 0; i < 16; ++i) {
    const KnownSize& known = g_sizes[(place_of(key) + i) % kKnownSizes];
    const std::uint64_t found = known.key.load(std::memory_order_relaxed);
    if (found == key) return known.bytes.load(std::memory_order_relaxed);
    if (found == 0) return 0;
  }
  return 0;
}

}  // namespace teller::collector
