#include "reconstruct/summary.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <vector>

#include "reconstruct/summary_parts.h"
#include "run_folder/roles_file.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

Json balance_json(const RecordBalance& balance) {
  Json json;
  visit_balance(balance, [&](const char* name, std::uint64_t count) { json[name] = count; });
  return json;
}

void add(RecordBalance& total, const RecordBalance& part) {
  std::vector<std::uint64_t> counts;
  visit_balance(part, [&](const char*, std::uint64_t count) { counts.push_back(count); });
  std::size_t at = 0;
  visit_balance(total, [&](const char*, std::uint64_t& count) { count += counts[at++]; });
}

Status check_balance(const std::string& what, const RecordBalance& balance) {
  if (balance.sum() == balance.records_in) return {};
  return Error{ErrorCode::kInternal,
               "reconstructing: the records of " + what +
                   " do not balance: " + std::to_string(balance.records_in) + " in, " +
                   std::to_string(balance.sum()) + " accounted for",
               "please report it"};
}

Json share(std::uint64_t part, std::uint64_t of) {
  Json json = {{"count", part}, {"of", of}};
  json["share"] = of == 0 ? Json() : Json(static_cast<double>(part) / static_cast<double>(of));
  return json;
}

class Summary {
 public:
  Summary(const RunFolder& run, const Workspace& work, const RecordBalance& logs,
          const RoleFindings& roles)
      : run_(run), work_(work), logs_(logs), roles_(roles) {}

  Result<ReconstructSummary> make() {
    json_["format"] = "teller.reconstruct";
    json_["version"] = 1;
    TELLER_CHECK_OK(add_balance());
    Json counters;
    visit_counters(work_.counters,
                   [&](const char* name, std::uint64_t count) { counters[name] = count; });
    json_["counters"] = std::move(counters);
    add_coverage();
    json_["roles"] = device_roles_json(work_.chains, roles_.table, roles_.entries);
    if (Json open = in_flight_json(work_.chains); !open.empty()) json_["in_flight"] = open;
    json_["notes"] = notes_json(work_, json_);
    note_roles(json_["notes"]);
    return ReconstructSummary{json_.dump(1, ' ', true, Json::error_handler_t::replace) + "\n",
                              summary_text(json_)};
  }

 private:
  void note_roles(Json& notes) const {
    if (roles_.file_bytes <= kMostRolesBytes) return;
    notes.push_back("roles.json is larger than what teller reads (" +
                    std::to_string(kMostRolesBytes >> 20) + " MiB): report shows no roles");
  }

  Status add_balance() {
    const auto files = run_.artifact_files("events");
    RecordBalance total;
    Json sources = Json::array();
    for (std::size_t i = 0; i < work_.sources.size(); ++i) {
      const Source& source = work_.sources[i];
      TELLER_CHECK_OK(check_balance(source.name, source.balance));
      add(total, source.balance);
      const EventFileDamage& damage = source.file.damage();
      Json entry = {{"source", source.name},
                    {"file", i < files.size() ? files[i] : ""},
                    {"dialect", source.dialect},
                    {"records", balance_json(source.balance)}};
      if (!damage.whole || damage.invalid_records > 0) {
        entry["damage"] = {{"reason", damage.reason},
                           {"lost_bytes", damage.lost_bytes},
                           {"skipped_blocks", damage.skipped_blocks},
                           {"invalid_records", damage.invalid_records}};
      }
      if (Json losses = losses_json(source.file.meta_json()); !losses.empty()) {
        entry["losses"] = std::move(losses);
      }
      sources.push_back(std::move(entry));
    }
    TELLER_CHECK_OK(check_balance("the log", logs_));
    add(total, logs_);
    json_["sources"] = std::move(sources);
    json_["logs"] = {{"records", balance_json(logs_)}};
    json_["total"] = {{"records", balance_json(total)}};
    return {};
  }

  void add_coverage() {
    const ReconstructCounters& counters = work_.counters;
    const auto& chains = work_.chains;
    std::array<std::uint64_t, 6> layers{};
    std::uint64_t collectives = 0;
    for (std::size_t node = 0; node < chains.nodes.layer.size(); ++node) {
      ++layers[chains.nodes.layer[node]];
      if ((chains.nodes.flags[node] & kNodeCollective) != 0) ++collectives;
    }
    Json by_layer;
    for (std::uint8_t layer = 0; layer < 5; ++layer) {
      by_layer[std::string(layer_name(static_cast<Layer>(layer)))] = layers[layer];
    }
    std::uint64_t recorded = 0;
    for (const std::uint32_t rows : chains.steps.row_count) recorded += rows > 0 ? 1 : 0;
    const std::uint64_t logs = chains.logs.text.size();
    Json& coverage = json_["coverage"];
    coverage["nodes"] = chains.nodes.parent.size();
    coverage["nodes_by_layer"] = std::move(by_layer);
    coverage["collective_nodes"] = collectives;
    coverage["steps"] = chains.steps.root.size();
    coverage["rows"] = chains.rows.step.size();
    coverage["requests"] = chains.requests.id.size();
    coverage["device_bound_to_calls"] =
        share(counters.bound_by_correlation, counters.device_activities);
    coverage["calls_in_ranges"] = share(counters.calls_in_ranges, counters.calls);
    coverage["ranges_in_steps"] = share(counters.ranges_in_steps, counters.ranges);
    coverage["calls_in_steps"] = share(counters.calls_in_steps, counters.calls);
    coverage["device_in_steps"] = share(counters.device_in_steps, counters.device_activities);
    coverage["steps_with_rows"] = share(recorded, chains.steps.root.size());
    coverage["steps_with_requests"] = share(steps_with_requests(), chains.steps.root.size());
    coverage["logs_aligned"] = share(logs - counters.logs_unaligned, logs);
    add_role_coverage(coverage);
  }

  // Steps with a row, or with a range that names a request.
  std::uint64_t steps_with_requests() const {
    const auto& nodes = work_.chains.nodes;
    std::vector<bool> named(work_.chains.steps.root.size(), false);
    for (std::size_t node = 0; node < nodes.request.size(); ++node) {
      if (nodes.request[node] != kNoIndex && nodes.step[node] != kNoIndex) {
        named[nodes.step[node]] = true;
      }
    }
    return static_cast<std::uint64_t>(std::count(named.begin(), named.end(), true));
  }

  void add_role_coverage(Json& coverage) const {
    std::uint64_t count = 0, count_of = 0, time = 0, time_of = 0;
    for (const RoleEntry& entry : roles_.entries) {
      if (entry.layer != static_cast<std::uint8_t>(Layer::kKernel)) continue;
      const bool known = entry.line != RoleTable::kNone;
      const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(entry.time_ns, 0));
      count_of += entry.count;
      time_of += ns;
      if (!known) continue;
      count += entry.count;
      time += ns;
    }
    coverage["device_with_role"] = share(count, count_of);
    coverage["device_time_with_role"] = share(time, time_of);
  }

  const RunFolder& run_;
  const Workspace& work_;
  const RecordBalance& logs_;
  const RoleFindings& roles_;
  Json json_;
};

}  // namespace

Result<ReconstructSummary> summarise(const RunFolder& run, const Workspace& work,
                                     const RecordBalance& logs, const RoleFindings& roles) {
  return Summary(run, work, logs, roles).make();
}

}  // namespace teller
