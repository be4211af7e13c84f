// The roles of a run's nodes: roles.json, and what the summary says of them. Private to
// reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reconstruct/role_table.h"
#include "reconstruct/workspace.h"

namespace teller {

// A name in one layer, its role, and how much there is of it.
struct RoleEntry {
  std::uint8_t layer = 0;  // Layer
  std::uint32_t name = 0;  // string of the chains
  std::uint32_t line = RoleTable::kNone;
  std::uint64_t count = 0;   // of what was recorded and ended
  std::int64_t time_ns = 0;  // sum of their durations
};

// One entry per layer and name of the nodes, in the order of the layers, then of the strings. Looks
// each name up once.
std::vector<RoleEntry> find_roles(const ChainsBuilder& chains, const RoleTable& table);

// roles.json: format in docs/reconstruct.md.
std::string roles_json(const ChainsBuilder& chains, const RoleTable& table,
                       const std::vector<RoleEntry>& entries);
// The device's time by role, most first, and the names without one.
nlohmann::ordered_json device_roles_json(const ChainsBuilder& chains, const RoleTable& table,
                                         const std::vector<RoleEntry>& entries);

}  // namespace teller
