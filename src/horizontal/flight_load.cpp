// Reads the dumps of a run from its events and their META.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/json_fields.h"
#include "horizontal/flight.h"
#include "horizontal/flight_job.h"
#include "run_folder/event_file.h"

namespace teller::flight {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kMostRank = 10'000'000;

struct RanksSeen {
  std::vector<bool> is_seen;  // by rank
  std::size_t count = 0;
};

void read_config(const Json& flight, Dump& dump) {
  const Json& config = member(flight, "pg_config");
  if (!config.is_object()) return;
  for (const auto& [name, group] : config.items()) {
    auto ranks = flight_ranks(member(group, "ranks"));
    if (ranks) dump.config[name] = {text_of(group, "desc"), std::move(*ranks)};
  }
}

void read_status(const Json& flight, Dump& dump) {
  const Json& status = member(flight, "pg_status");
  if (!status.is_object()) return;
  for (const auto& [id, one] : status.items()) {
    const auto number = flight_number(Json(id));
    if (!number) continue;
    Progress& progress = dump.status[*number];
    progress.enqueued = flight_number(member(one, "last_enqueued_collective")).value_or(-1);
    progress.completed = flight_number(member(one, "last_completed_collective")).value_or(-1);
  }
}

// Entries that the import could not keep: how many, and where among the others they stood.
void read_malformed(const Json& flight, Dump& dump) {
  const Json& list = member(flight, "malformed_entries");
  if (!list.is_array()) return;
  for (const Json& one : list) {
    const auto own = flight_number(member(one, "record_id"));
    const auto before = flight_number(member(one, "after_record_id"));
    // What stands after a record lies beyond it: in the order of the file.
    const std::int64_t after = before ? *before + (*before < INT64_MAX ? 1 : 0) : -1;
    dump.holes.push_back(own.value_or(after));
  }
  dump.unread += list.size();
}

// A ring buffer is written oldest first; what is not numbered stays where it is.
void sort_numbered(std::vector<FlightEntry>& entries) {
  std::vector<std::size_t> places;
  std::vector<FlightEntry> numbered;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].record_id < 0) continue;
    places.push_back(i);
    numbered.push_back(std::move(entries[i]));
  }
  std::stable_sort(
      numbered.begin(), numbered.end(),
      [](const FlightEntry& a, const FlightEntry& b) { return a.record_id < b.record_id; });
  for (std::size_t i = 0; i < places.size(); ++i) entries[places[i]] = std::move(numbered[i]);
}

void read_entries(const EventFile& file, Dump& dump) {
  for (const auto block : file.blocks()) {
    for (const EventRecord& event : block) {
      std::string why;
      auto entry = read_flight_entry(parse_json(file.string(event.attrs)), why);
      if (entry) {
        dump.entries.push_back(std::move(*entry));
      } else {
        ++dump.unread;
        dump.holes.push_back(-1);
      }
    }
  }
  sort_numbered(dump.entries);
}

Error too_many(const std::string& path, const std::string& why) {
  return {ErrorCode::kUnsupported, "reading the flight recorder dump in " + path + ": " + why,
          "import fewer dumps in one run, of one job, as PyTorch wrote them"};
}

// Adds the ranks that a dump lists to those seen; false where they are more than a job's. Ranks are
// 0 to kMostRank.
bool add_ranks(const Dump& dump, RanksSeen& seen) {
  for (const auto& [name, config] : dump.config) {
    for (const int rank : config.ranks) {
      const auto at = static_cast<std::size_t>(rank);
      if (at >= seen.is_seen.size()) seen.is_seen.resize(at + 1, false);
      if (!seen.is_seen[at]) ++seen.count;
      seen.is_seen[at] = true;
    }
  }
  return seen.count <= kMostFlightRanks;
}

}  // namespace

Result<std::vector<Dump>> load_dumps(const RunFolder& run) {
  TELLER_TRY(const auto files, run.require_artifact("events"));
  std::vector<Dump> dumps;
  RanksSeen ranks;
  for (const std::string& relative : files) {
    TELLER_TRY(const EventFile file, EventFile::open(run.file(relative)));
    const Json meta = parse_json(file.meta_json());
    Dump dump;
    dump.source = text_of(meta, "source");
    dump.rank_from = text_of(meta, "rank_from");
    const auto rank = flight_number(member(meta, "rank"));
    if (rank && *rank >= 0 && *rank <= kMostRank) dump.rank = static_cast<int>(*rank);
    dump.version_known = flight_version_note(member(member(meta, "producer"), "version")).empty();
    const Json& flight = member(meta, "flight");
    const std::string many = too_many_flight_ranks(member(flight, "pg_config"));
    if (!many.empty()) return too_many(run.file(relative), many);
    read_config(flight, dump);
    read_status(flight, dump);
    read_malformed(flight, dump);
    read_entries(file, dump);
    if (!add_ranks(dump, ranks)) {
      return too_many(run.file(relative), "with it the dumps list more than " +
                                              std::to_string(kMostFlightRanks) + " ranks");
    }
    dumps.push_back(std::move(dump));
  }
  return dumps;
}

}  // namespace teller::flight

namespace teller {

namespace {

// A merged run has no list of sources: its event files say what they are. The first that is no dump
// ends it.
bool are_dumps(const RunFolder& run) {
  const auto files = run.artifact_files("events");
  for (const std::string& relative : files) {
    const auto file = EventFile::open(run.file(relative));
    if (!file) return false;
    const auto meta = parse_json(file->meta_json());
    if (!meta.is_object() || meta.value("dialect", nlohmann::ordered_json()) != kFlightDialect) {
      return false;
    }
  }
  return !files.empty();
}

}  // namespace

bool is_flight_run(const RunFolder& run) {
  const auto& manifest = run.manifest();
  if (manifest.contains("merged")) return are_dumps(run);
  const auto sources = manifest.find("sources");
  if (sources == manifest.end() || !sources->is_array() || sources->empty()) return false;
  return std::all_of(sources->begin(), sources->end(), [](const auto& source) {
    return source.is_object() && source.contains("dialect") &&
           source["dialect"] == std::string(kFlightDialect);
  });
}

}  // namespace teller
