#include "reconstruct/summary.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

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
  Summary(const RunFolder& run, const Workspace& work, const RecordBalance& logs)
      : run_(run), work_(work), logs_(logs) {}

  Result<ReconstructSummary> make() {
    json_["format"] = "teller.reconstruct";
    json_["version"] = 1;
    TELLER_CHECK_OK(add_balance());
    Json counters;
    visit_counters(work_.counters,
                   [&](const char* name, std::uint64_t count) { counters[name] = count; });
    json_["counters"] = std::move(counters);
    add_coverage();
    add_notes();
    return ReconstructSummary{json_.dump(1, ' ', false, Json::error_handler_t::replace) + "\n",
                              text()};
  }

 private:
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
    coverage["logs_aligned"] = share(logs - counters.logs_unaligned, logs);
  }

  void add_notes() {
    Json notes = Json::array();
    if (work_.chains.steps.root.empty()) {
      notes.push_back(
          "no step was found: everything stands outside; steps come from the hooks' "
          "STEP ranges or from engine annotations");
    }
    for (const Source& source : work_.sources) {
      const EventFileDamage& damage = source.file.damage();
      if (damage.whole) continue;
      notes.push_back(source.name +
                      " is not whole, what was lost is in no chain: " + damage.reason);
    }
    const ReconstructCounters& counters = work_.counters;
    if (counters.before_window > 0) {
      notes.push_back(std::to_string(counters.before_window) +
                      " device activities were launched before the capture began: their calls are "
                      "not in it");
    }
    if (counters.clocks_unknown > 0 && work_.sources.size() > 1) {
      notes.push_back(std::to_string(counters.clocks_unknown) +
                      " sources do not say how their clock relates to Unix time: they are taken to "
                      "share the run's");
    }
    json_["notes"] = std::move(notes);
  }

  std::string text() const {
    std::string out = "records\n";
    for (const auto& [name, count] : json_["total"]["records"].items()) {
      if (name == "records_in" || count != 0) line(out, name, count.dump());
    }
    out += "coverage\n";
    for (const auto& [name, value] : json_["coverage"].items()) {
      if (value.contains("of")) {
        line(out, name, share_text(value));
      } else if (value.is_object()) {
        line(out, name, layers_text(value));
      } else {
        line(out, name, value.dump());
      }
    }
    out += "counters that are not zero\n";
    for (const auto& [name, count] : json_["counters"].items()) {
      if (count != 0) line(out, name, count.dump());
    }
    for (const Json& note : json_["notes"]) out += "note: " + note.get<std::string>() + "\n";
    return out;
  }

  static void line(std::string& out, const std::string& name, const std::string& value) {
    std::string label = name;
    for (char& c : label) c = c == '_' ? ' ' : c;
    out +=
        "  " + label + std::string(label.size() < 26 ? 26 - label.size() : 1, ' ') + value + "\n";
  }

  static std::string share_text(const Json& value) {
    std::string text = value["count"].dump() + " of " + value["of"].dump();
    if (value["share"].is_null()) return text;
    char percent[32];
    std::snprintf(percent, sizeof percent, " (%.1f %%)", value["share"].get<double>() * 100);
    return text + percent;
  }

  static std::string layers_text(const Json& layers) {
    std::string text;
    for (const auto& [name, count] : layers.items()) {
      text += (text.empty() ? "" : ", ") + name + " " + count.dump();
    }
    return text;
  }

  const RunFolder& run_;
  const Workspace& work_;
  const RecordBalance& logs_;
  Json json_;
};

}  // namespace

Result<ReconstructSummary> summarise(const RunFolder& run, const Workspace& work,
                                     const RecordBalance& logs) {
  return Summary(run, work, logs).make();
}

}  // namespace teller
