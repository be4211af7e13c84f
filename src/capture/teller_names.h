// Which numbers the Python hooks' own domain and categories have in one process: they are given out
// anew in each.
#pragma once

#include <cstdint>
#include <string_view>

#include "teller/event.h"
#include "teller/ring.h"

namespace teller::capture {

// NVTX category of the marks in which the Python hooks say what became of their targets.
inline constexpr std::string_view kCategoryMeta = "META";

class TellerNames {
 public:
  void add(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
           std::string_view text);
  // A range of a step: of the engine's, or within it (schedule).
  bool is_step(const ring::TextRecord& fixed) const {
    return is_ours(fixed) && step_ != 0 && fixed.category == step_;
  }
  bool is_ours(const ring::TextRecord& fixed) const {
    return domain_ != 0 && fixed.domain == domain_;
  }
  // A mark with the counts of the hooks.
  bool is_meta(const ring::RecordHeader& header, std::string_view payload) const;

 private:
  std::uint32_t domain_ = 0;
  std::uint32_t step_ = 0;
  std::uint32_t meta_ = 0;
};

}  // namespace teller::capture
