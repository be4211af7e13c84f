// Schemas and enumerations of NVTX payloads, as the traced process registered them. Both come from
// outside: counts, sizes and references are checked where they are used.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "teller/ring.h"

namespace teller::capture {

// Entry of a schema; of an enumeration, `type` is the value and bit 0 of `flags` says that it is a
// bit.
struct PayloadEntry {
  std::uint64_t flags = 0;
  std::uint64_t type = 0;
  std::uint64_t detail = 0;
  std::uint64_t offset = 0;
  std::string name;
};

struct PayloadSchema {
  bool is_enum = false;
  std::uint64_t type = 0;   // NVTX_PAYLOAD_SCHEMA_TYPE_*
  std::uint64_t bytes = 0;  // static size, 0 where unknown
  std::uint32_t pack = 0;
  std::string name;
  std::vector<PayloadEntry> entries;
};

class PayloadSchemas {
 public:
  // `text` is that of a kSchema or kEnum definition; false if it makes no sense. A later definition
  // of the same id in the same domain replaces the former.
  bool define(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
              std::string_view text);
  // Null for an id that nobody has registered in this domain. Ids that we gave out are known in
  // all.
  const PayloadSchema* find(std::uint32_t domain, std::uint64_t id) const;

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  static Key key_of(std::uint32_t domain, std::uint64_t id);
  std::map<Key, PayloadSchema> schemas_;
};

// Numbers of NVTX's payload extension (nvToolsExtPayload.h), which belongs to the collector.
namespace nvtx {
inline constexpr std::uint64_t kFirstStaticSchema = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kFirstDynamicSchema = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kReferenced = 1022, kRaw = 1023;
inline constexpr std::uint64_t kStatic = 1, kDynamic = 2, kUnion = 3, kSelectingUnion = 4;
inline constexpr std::uint64_t kPointer = 1u << 1, kFromBase = 1u << 2, kFromHere = 1u << 3;
inline constexpr std::uint64_t kEventMessage = 1u << 10;
enum class Array : std::uint64_t {
  kNone = 0,
  kFixed = 1,
  kZeroTerminated = 2,
  kLengthIndex = 3,
  kLengthPayload = 4,
};
}  // namespace nvtx

}  // namespace teller::capture
