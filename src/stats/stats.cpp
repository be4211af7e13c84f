#include "stats/stats.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/bounded_counts.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/terminal.h"
#include "run_folder/context_peaks.h"
#include "run_folder/event_file.h"
#include "stats/context_text.h"
#include "stats/source_stats.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kReportLimit = 256u << 20;

Json sorted(const Json& object) {
  std::map<std::string, Json> entries;
  if (object.is_object()) {
    for (const auto& [key, value] : object.items()) entries[key] = value;
  }
  return entries;
}

// One source; key names and values are those of the reference values of foreign traces.
Json source_json(const EventFile& file, const std::string& relative) {
  const Json meta = Json::parse(file.meta_json(), nullptr, false);
  const Json dialect_value = member(meta, "dialect");
  const std::string dialect =
      dialect_value.is_string() ? dialect_value.get<std::string>() : std::string();
  const SourceStats counts = count_source(file, dialect);
  Json json;
  const Json name = member(meta, "source");
  json["file"] = name.is_string() ? name : Json(relative);
  json["events_file"] = relative;
  json["dialect"] = dialect;
  json["events"] = file.event_count();
  if (dialect == "nsys") {
    json["rows"] = sorted(member(meta, "rows"));
  } else {
    json["complete_events"] = counts.complete_events;
  }
  json["device_activities"] = counts.device_activities;
  json["device_activities_bound"] = counts.device_activities_bound;
  json["busy_ns"] = counts.busy_ns;
  json["same_stream_overlaps"] = counts.same_stream_overlaps;
  if (dialect != "nsys") {
    json["annotations"] = counts.annotations;
    json["rank"] = member(meta, "rank");
    json["world_size"] = member(meta, "world_size");
  }
  if (!file.damage().whole) json["damage"] = file.damage().reason;
  return json;
}

void add_counts(CountsByText& total, const Json& counts) {
  if (!counts.is_object()) return;
  for (const auto& [key, value] : counts.items()) {
    if (value.is_number_unsigned()) total[key] += value.get<std::uint64_t>();
  }
}

Json total_json(const Json& sources) {
  Json total = {{"sources", sources.size()}};
  CountsByText events, rows;
  std::uint64_t busy_ns = 0;
  for (const Json& source : sources) {
    for (const char* key :
         {"events", "device_activities", "device_activities_bound", "same_stream_overlaps"}) {
      total[key] = total.value(key, std::uint64_t{0}) + source[key].get<std::uint64_t>();
    }
    add_counts(events, member(source, "complete_events"));
    add_counts(rows, member(source, "rows"));
    for (const auto& [device, value] : source["busy_ns"].items()) {
      busy_ns += static_cast<std::uint64_t>(value.get<std::int64_t>());
    }
  }
  if (!events.empty()) total["complete_events"] = bounded_counts(std::move(events));
  if (!rows.empty()) total["rows"] = bounded_counts(std::move(rows));
  total["busy_ns"] = busy_ns;
  return total;
}

// What reconstruct.json says, if there is a fresh one.
Json reconstruction(const RunFolder& run) {
  Json json = {{"state", "not reconstructed"}};
  if (run.artifact_files("chains").empty()) return json;
  const auto files = run.require_artifact("chains");
  if (!files) {
    json["state"] = files.error().code == ErrorCode::kStale ? "stale" : "missing";
    json["reason"] = files.error().message;
    return json;
  }
  for (const std::string& relative : *files) {
    if (relative != "reconstruct.json") continue;
    const auto text = read_file(run.file(relative), "reconstruction report", kReportLimit);
    const Json report = text ? parse_json(*text) : Json();
    if (!report.is_object()) continue;
    json["state"] = "reconstructed";
    for (const char* key :
         {"total", "sources", "logs", "coverage", "counters", "notes", "roles", "in_flight"}) {
      json[key] = member(report, key);
    }
  }
  return json;
}

// The comparison of ranks, if there is a fresh one: all of it but the list of kinds.
Json ranks_compared(const RunFolder& run) {
  if (!run.require_artifact("horizontal")) return nullptr;
  const auto text = read_file(run.file("horizontal.json"), "comparison of ranks", kReportLimit);
  Json report = text ? parse_json(*text) : Json();
  if (!report.is_object()) return nullptr;
  for (const char* key : {"format", "version", "kinds"}) report.erase(key);
  return report;
}

class Text {
 public:
  explicit Text(const Json& json) : json_(json) {}

  std::string make() {
    for (const Json& source : json_["sources"]) {
      out_ += printable(source["file"].get<std::string>()) + "\n";
      block(source);
    }
    if (json_["sources"].size() > 1) {
      out_ += "total\n";
      block(json_["total"]);
    }
    add_reconstruction(json_["reconstruction"]);
    add_ranks(member(json_, "horizontal"));
    return std::move(out_);
  }

 private:
  void block(const Json& counts) {
    for (const auto& [key, value] : counts.items()) {
      if (key == "file") continue;
      line(key, value);
    }
  }

  void line(const std::string& key, const Json& value) {
    if (value.is_array()) {
      line(key, Json(value.size()));
      return;
    }
    std::string label = printable(key);
    std::replace(label.begin(), label.end(), '_', ' ');
    label.resize(std::max<std::size_t>(label.size() + 1, 26), ' ');
    out_ += "  " + label + value_text(value) + "\n";
  }

  static std::string value_text(const Json& value) {
    if (value.is_null()) return "-";
    if (value.is_string()) return printable(value.get<std::string>());
    if (!value.is_object()) return value.dump();
    if (value.contains("share")) return share_text(value);
    std::string text;
    for (const auto& [key, entry] : value.items()) {
      text += (text.empty() ? "" : ", ") + (key.empty() ? "(none)" : printable(key)) + " " +
              value_text(entry);
    }
    return text.empty() ? "-" : text;
  }

  static std::string share_text(const Json& value) {
    const std::string text = value["count"].dump() + " of " + value["of"].dump();
    if (!value["share"].is_number()) return text;
    char percent[32];
    std::snprintf(percent, sizeof percent, " (%.1f %%)", value["share"].get<double>() * 100);
    return text + percent;
  }

  // Counts and clocks of the comparison of ranks.
  void add_ranks(const Json& part) {
    if (!part.is_object()) return;
    out_ += "ranks\n";
    line("ranks", member(part, "ranks"));
    for (const char* key : {"collectives", "clocks"}) {
      const Json counts = member(part, key);
      if (counts.is_object()) block(counts);
    }
  }

  void add_reconstruction(const Json& part) {
    const std::string state = part["state"].get<std::string>();
    out_ += state == "reconstructed" ? "reconstruction\n"
                                     : "reconstruction: " + printable(state) + "\n";
    if (state != "reconstructed") return;
    const Json total = member(part, "total");
    if (total.is_object()) block(total);
    const Json coverage = member(part, "coverage");
    if (coverage.is_object()) block(coverage);
    add_roles(member(member(part, "roles"), "device"));
  }

  // The device's time by what it was spent on.
  void add_roles(const Json& roles) {
    if (!roles.is_array() || roles.empty()) return;
    out_ += "device time by role\n";
    for (const Json& role : roles) {
      const Json name = member(role, "role"), time = member(role, "time_ns");
      if (!name.is_string() || !time.is_number()) continue;
      char text[64];
      std::snprintf(text, sizeof text, "%.3f ms in ", time.get<double>() / 1e6);
      line(name.get<std::string>(), Json(text + member(role, "count").dump()));
    }
  }

  const Json& json_;
  std::string out_;
};

}  // namespace

Result<RunStats> stats(const RunFolder& run) {
  TELLER_TRY(const auto files, run.require_artifact("events"));
  for (const char* further : {"chains", "horizontal"}) TELLER_CHECK_OK(run.check_listed(further));
  Json sources = Json::array();
  for (const std::string& relative : files) {
    TELLER_TRY(const EventFile file, EventFile::open(run.file(relative)));
    sources.push_back(source_json(file, relative));
  }
  Json json;
  json["total"] = total_json(sources);
  json["sources"] = std::move(sources);
  json["reconstruction"] = reconstruction(run);
  if (Json ranks = ranks_compared(run); !ranks.is_null()) json["horizontal"] = std::move(ranks);
  TELLER_TRY(const Json context, context_peaks(run));
  if (context.is_object()) json["context"] = context;
  RunStats result;
  result.json = json.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  result.text = Text(json).make() + context_text(context);
  return result;
}

}  // namespace teller
