// Sizes and alignments of what a payload schema describes, and how much work reading by it may be.
#pragma once

#include <cstdint>

#include "capture/payload_schema.h"

namespace teller::capture {

inline constexpr int kMaxPayloadDepth = 8;
inline constexpr std::size_t kPayloadPointerBytes = 8;

// One element of a type.
struct PayloadLayout {
  const PayloadSchema* schema = nullptr;  // null for a predefined type
  std::uint64_t size = 0;                 // 0 = not known
  std::uint64_t alignment = 1;
};

nvtx::Array array_of(const PayloadEntry& entry);
// The entry holds where its value is.
bool is_indirect(const PayloadEntry& entry);
std::uint64_t round_up_to(std::uint64_t number, std::uint64_t alignment);

// Schemas may be nested in themselves and in each other: depth and steps are bounded. Not
// thread-safe.
class PayloadLayouts {
 public:
  explicit PayloadLayouts(const PayloadSchemas& schemas) : schemas_(schemas) {}

  // Begins with the payloads of an event of that domain.
  void begin(std::uint32_t domain);
  const PayloadSchema* find(std::uint64_t type) const { return schemas_.find(domain_, type); }
  PayloadLayout of(std::uint64_t type, std::uint32_t pack, int depth);
  // Takes one step, of looking or reading; false if there is none left.
  bool spend();
  bool used_up() const { return left_ == 0; }

 private:
  PayloadLayout of_struct(const PayloadSchema& schema, int depth);

  const PayloadSchemas& schemas_;
  std::uint32_t domain_ = 0;
  std::uint32_t left_ = 0;
};

}  // namespace teller::capture
