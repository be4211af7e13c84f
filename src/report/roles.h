// The roles that reconstruct found for names (roles.json).
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "run_folder/run_folder.h"

namespace teller::report_detail {

class RoleNames {
 public:
  // Empty if the run has no roles.json that belongs to its chains, or one that can't be read.
  explicit RoleNames(const RunFolder& run);

  // The role of a name in a layer; "" if it has none.
  std::string_view of(std::string_view layer, std::string_view name) const;

 private:
  std::map<std::pair<std::string, std::string>, std::string> roles_;  // by layer and name
};

}  // namespace teller::report_detail
