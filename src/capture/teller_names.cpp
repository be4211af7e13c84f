#include "capture/teller_names.h"

#include <cstring>

namespace teller::capture {

void TellerNames::add(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                      std::string_view text) {
  const auto number = static_cast<std::uint32_t>(id);
  if (kind == ring::DefinitionKind::kDomain && text == kTellerDomain) domain_ = number;
  if (kind != ring::DefinitionKind::kCategory || domain_ == 0 || domain != domain_) return;
  if (text == kCategoryStep) step_ = number;
  if (text == kCategoryMeta) meta_ = number;
}

bool TellerNames::is_meta(const ring::RecordHeader& header, std::string_view payload) const {
  if (static_cast<ring::RecordType>(header.type) != ring::RecordType::kMark || meta_ == 0) {
    return false;
  }
  ring::TextRecord fixed{};
  if (payload.size() < sizeof fixed) return false;
  std::memcpy(&fixed, payload.data(), sizeof fixed);
  return is_ours(fixed) && fixed.category == meta_;
}

}  // namespace teller::capture
