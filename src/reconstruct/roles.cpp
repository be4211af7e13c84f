#include "reconstruct/roles.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLayers = 5;
// So many names without a role are named.
constexpr std::size_t kMostNamed = 20;

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::int64_t>::max() : sum;
}

// Operators and functions without a role are left out: most have none.
bool is_listed(const RoleEntry& entry) {
  return entry.line != RoleTable::kNone ||
         entry.layer >= static_cast<std::uint8_t>(Layer::kRuntime);
}

Json entry_json(const ChainsBuilder& chains, const RoleTable& table, const RoleEntry& entry) {
  Json json;
  json["layer"] = layer_name(static_cast<Layer>(entry.layer));
  json["role"] = entry.line == RoleTable::kNone ? Json() : Json(table.role(entry.line).name);
  json["name"] = chains.strings.view(entry.name);
  json["count"] = entry.count;
  json["time_ns"] = entry.time_ns;
  if (entry.line != RoleTable::kNone) json["pattern"] = table.pattern(entry.line);
  return json;
}

struct Sum {
  std::string name;
  std::uint64_t count = 0;
  std::int64_t time_ns = 0;
};

Json sums_json(const char* key, std::vector<Sum> sums, std::size_t most) {
  std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) {
    if (a.time_ns != b.time_ns) return a.time_ns > b.time_ns;
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  Json list = Json::array();
  for (std::size_t i = 0; i < sums.size() && i < most; ++i) {
    list.push_back({{key, sums[i].name}, {"count", sums[i].count}, {"time_ns", sums[i].time_ns}});
  }
  return list;
}

// The entries that are used, found by layer and name. Names are the first strings of the chains, so
// that four bytes each are room enough to find the entries of one by.
class EntryList {
 public:
  explicit EntryList(const std::vector<std::uint32_t>& names) {
    const auto largest = std::max_element(names.begin(), names.end());
    if (largest != names.end()) first_.assign(std::size_t{*largest} + 1, kNoIndex);
  }

  RoleEntry& at(std::uint8_t layer, std::uint32_t name) {
    layer = std::min<std::uint8_t>(layer, kLayers - 1);
    std::uint32_t* at = &first_[name];
    while (*at != kNoIndex && entries_[*at].layer != layer) at = &next_[*at];
    if (*at == kNoIndex) {
      *at = static_cast<std::uint32_t>(entries_.size());
      RoleEntry& entry = entries_.emplace_back();
      entry.layer = layer;
      entry.name = name;
      next_.push_back(kNoIndex);
      return entry;
    }
    return entries_[*at];
  }

  // All of them, in the order of the layers, then of the strings.
  std::vector<RoleEntry> take() {
    std::sort(entries_.begin(), entries_.end(), [](const RoleEntry& a, const RoleEntry& b) {
      return a.layer != b.layer ? a.layer < b.layer : a.name < b.name;
    });
    return std::move(entries_);
  }

 private:
  std::vector<std::uint32_t> first_;  // by name: an entry
  std::vector<std::uint32_t> next_;   // by entry: the next one of its name
  std::vector<RoleEntry> entries_;
};

}  // namespace

std::vector<RoleEntry> find_roles(const ChainsBuilder& chains, const RoleTable& table) {
  const auto& nodes = chains.nodes;
  EntryList list(nodes.name);
  for (std::size_t node = 0; node < nodes.name.size(); ++node) {
    RoleEntry& entry = list.at(nodes.layer[node], nodes.name[node]);
    // Work in flight may not have begun, and what is open has no length.
    if ((nodes.flags[node] & (kNodeOpen | kNodeSynthetic)) != 0) continue;
    ++entry.count;
    entry.time_ns = saturating_add(entry.time_ns, nodes.end_ns[node] - nodes.begin_ns[node]);
  }
  std::vector<RoleEntry> entries = list.take();
  for (RoleEntry& entry : entries) {
    entry.line = table.find(static_cast<Layer>(entry.layer), chains.strings.view(entry.name));
  }
  return entries;
}

std::string roles_json(const ChainsBuilder& chains, const RoleTable& table,
                       const std::vector<RoleEntry>& entries) {
  Json roles = Json::object();
  for (const RoleTable::Role& role : table.roles()) roles[role.name] = role.description;
  // One name a line, written as it comes: there may be very many.
  std::string out =
      R"({"format":"teller.roles","version":1,"roles":)" + roles.dump() + ",\n\"names\":[";
  const char* before = "\n";
  for (const RoleEntry& entry : entries) {
    if (!is_listed(entry)) continue;
    out += before +
           entry_json(chains, table, entry).dump(-1, ' ', false, Json::error_handler_t::replace);
    before = ",\n";
  }
  return out + "\n]}\n";
}

nlohmann::ordered_json device_roles_json(const ChainsBuilder& chains, const RoleTable& table,
                                         const std::vector<RoleEntry>& entries) {
  std::map<std::string, Sum> by_role;
  std::vector<Sum> without;
  for (const RoleEntry& entry : entries) {
    if (entry.layer != static_cast<std::uint8_t>(Layer::kKernel) || entry.count == 0) continue;
    if (entry.line == RoleTable::kNone) {
      const std::string_view name = chains.strings.view(entry.name);
      without.push_back({std::string(name), entry.count, entry.time_ns});
      continue;
    }
    const std::string& role = table.role(entry.line).name;
    Sum& sum = by_role.try_emplace(role, Sum{role, 0, 0}).first->second;
    sum.count += entry.count;
    sum.time_ns = saturating_add(sum.time_ns, entry.time_ns);
  }
  std::vector<Sum> sums;
  for (auto& [role, sum] : by_role) sums.push_back(sum);
  Json json;
  json["device"] = sums_json("role", std::move(sums), RoleTable::kNone);
  json["device_without"] = sums_json("name", std::move(without), kMostNamed);
  return json;
}

}  // namespace teller
