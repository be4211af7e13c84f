// Imports one dump of PyTorch's NCCL flight recorder: an event per entry.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "importers/flight_dump.h"
#include "importers/source_import.h"
#include "run_folder/flight_record.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Operations of a group overlap, for they are queued; more tracks than this would help nobody.
constexpr std::size_t kMostLanes = 64;
// Members of the top-level object that are kept besides those with a meaning.
constexpr std::size_t kOtherMembers = 64;
// Malformed entries of which is kept where they stood; all are counted.
constexpr std::size_t kMostMalformed = 4096;
constexpr std::size_t kNoteLength = 200;

std::string dump_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Tracks of process groups: as many for each as its operations overlap, so that on each track one
// ends before the next begins.
class Lanes {
 public:
  explicit Lanes(EventFileWriter& writer) : writer_(writer) {}

  TrackId place(const FlightEntry& entry, std::int64_t end_ns) {
    std::vector<std::int64_t>& ends = ends_[{entry.pg_id, entry.group}];
    std::size_t lane = 0;
    while (lane < ends.size() && ends[lane] > entry.created_ns) ++lane;
    if (lane == kMostLanes) {
      lane = static_cast<std::size_t>(std::min_element(ends.begin(), ends.end()) - ends.begin());
    }
    if (lane == ends.size()) ends.push_back(0);
    ends[lane] = std::max(ends[lane], end_ns);
    return track(entry, lane);
  }

 private:
  TrackId track(const FlightEntry& entry, std::size_t lane) {
    std::string name = "group " + entry.group;
    if (!entry.description.empty()) name += " " + entry.description;
    if (lane > 0) name += " (" + std::to_string(lane + 1) + ")";
    TrackRecord record;
    record.kind = static_cast<std::uint32_t>(TrackKind::kOther);
    record.name = writer_.intern(name);
    record.tid = entry.pg_id;
    record.stream = static_cast<std::int64_t>(lane);
    return writer_.track(record);
  }

  EventFileWriter& writer_;
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::int64_t>> ends_;
};

class FlightConverter {
 public:
  // `byte_order_mark`: one stood before the dump's text.
  FlightConverter(const Json& dump, bool byte_order_mark, EventFileWriter& writer)
      : dump_(dump), byte_order_mark_(byte_order_mark), writer_(writer), lanes_(writer) {}

  Status convert() {
    if (byte_order_mark_) ++counts_.repaired;
    const auto entries = dump_.find("entries");
    if (entries != dump_.end() && entries->is_array()) {
      for (const Json& json : *entries) TELLER_CHECK_OK(add(json));
    }
    for (const char* key : {"pg_config", "pg_status"}) count_members(key);
    return {};
  }

  const SourceCounts& counts() const { return counts_; }
  SourceLayers layers() const { return layers_.layers(true); }
  const std::string& first_malformed() const { return first_malformed_; }

  void add_to(Json& meta) const {
    Json flight;
    for (const char* key : {"pg_config", "pg_status"}) {
      const auto found = dump_.find(key);
      flight[key] = found == dump_.end() || !found->is_object() ? Json::object() : *found;
    }
    flight["states"] = states_;
    flight["unknown_entry_keys"] = unknown_keys_;
    flight["malformed_entries"] = malformed_;
    flight["fields_unread"] = unread_;
    flight["entries_contradictory"] = contradictory_;
    meta["flight"] = std::move(flight);
    add_others(meta);
  }

  // In words, what was found that no flight recorder writes.
  std::vector<std::string> notes() const {
    std::vector<std::string> notes;
    const auto version = dump_.find("version");
    const std::string unknown_version =
        flight_version_note(version == dump_.end() ? Json() : *version);
    if (!unknown_version.empty()) notes.push_back(unknown_version);
    if (byte_order_mark_) {
      notes.emplace_back("a UTF-8 byte order mark stands before its JSON: passed over");
    }
    if (!first_malformed_.empty()) notes.push_back(first_malformed_);
    if (!unknown_keys_.empty()) {
      notes.push_back("keys of entries that are not known: " + joined(unknown_keys_, false));
    }
    if (!unread_.empty()) {
      notes.push_back(
          "fields of entries that can't be read (not of their type, or beyond 64 bits): " +
          joined(unread_, true));
    }
    if (contradictory_ > 0) {
      notes.push_back(
          std::to_string(contradictory_) +
          " entries contradict themselves, and say nothing of who waits; the first is " +
          first_contradictory_);
    }
    return notes;
  }

 private:
  static std::string joined(const std::map<std::string, std::uint64_t>& counts, bool with_counts) {
    std::string text;
    for (const auto& [key, count] : counts) {
      if (text.size() > kNoteLength) return text + ", …";
      text += (text.empty() ? "" : ", ") + key;
      if (with_counts) text += " (" + std::to_string(count) + ")";
    }
    return text;
  }

  // What the comparison of ranks has to know of an entry that becomes no event: where among the
  // others it stood.
  void add_malformed(const Json& json, const std::string& why) {
    const std::uint64_t place = counts_.records - 1;
    if (counts_.malformed++ == 0) {
      first_malformed_ = "entry " + std::to_string(place) + ": " + why;
    }
    if (malformed_.size() == kMostMalformed) return;
    const auto id = json.is_object() ? json.find("record_id") : json.end();
    const auto number = json.is_object() && id != json.end() ? flight_number(*id) : std::nullopt;
    malformed_.push_back({{"entry", place},
                          {"record_id", number ? Json(*number) : Json()},
                          {"after_record_id", last_record_id_ < 0 ? Json() : Json(last_record_id_)},
                          {"why", why}});
  }

  // What its fields do not say, or say against each other; it is kept all the same.
  void note_oddities(const FlightEntry& entry) {
    for (const std::string& key : entry.unread) ++unread_[key];
    if (entry.contradiction.empty()) return;
    if (contradictory_++ > 0) return;
    first_contradictory_ =
        "entry " + std::to_string(counts_.records - 1) + ": " + entry.contradiction;
  }

  Status add(const Json& json) {
    ++counts_.records;
    std::string why;
    const auto entry = read_flight_entry(json, why);
    if (!entry) {
      add_malformed(json, why);
      return {};
    }
    note_oddities(*entry);
    last_record_id_ = std::max(last_record_id_, entry->record_id);
    for (const auto& [key, value] : json.items()) {
      if (!is_flight_entry_key(key)) ++unknown_keys_[key];
    }
    ++states_[entry->state_text];
    return add_event(json, *entry);
  }

  Status add_event(const Json& json, const FlightEntry& entry) {
    EventRecord event;
    event.begin_ns = entry.created_ns;
    event.end_ns = end_of(entry, event);
    const bool known = entry.state != FlightState::kUnknown;
    event.kind = static_cast<std::uint16_t>(known ? EventKind::kRange : EventKind::kUnknown);
    known ? ++counts_.events : ++counts_.unknown["state " + entry.state_text];
    event.flags |= kFlagOperator;
    if (entry.record_id >= 0) {
      event.correlation = static_cast<std::uint64_t>(entry.record_id);
      event.flags |= kFlagHasCorrelation;
    }
    event.name = writer_.intern(entry.name);
    event.category = writer_.intern("flight");
    event.attrs = writer_.append_text(dump_text(json));
    event.track = lanes_.place(entry, event.end_ns);
    layers_.add(event);
    return writer_.add(event);
  }

  // An operation that never completed is open. The time of completion is when it was noticed; where
  // it is not there, or lies before the beginning, the latest time that is known stands for it.
  std::int64_t end_of(const FlightEntry& entry, EventRecord& event) {
    const bool completed = entry.state == FlightState::kCompleted || entry.completed_ns;
    if (!completed) return kOpenNs;
    const std::int64_t from = entry.started_ns.value_or(entry.created_ns);
    const std::int64_t end = entry.completed_ns.value_or(from);
    if (entry.completed_ns && end >= entry.created_ns) return end;
    ++counts_.clipped;
    event.flags |= kFlagRepaired;
    return std::max(end, entry.created_ns);
  }

  // Groups and their states: records of the dump that go to META.
  void count_members(const char* key) {
    const auto found = dump_.find(key);
    if (found == dump_.end()) return;
    if (!found->is_object()) {
      ++counts_.records;
      ++counts_.malformed;
      return;
    }
    for (const auto& [name, value] : found->items()) {
      ++counts_.records;
      const bool whole = value.is_object() && (std::string_view(key) != "pg_config" ||
                                               flight_ranks(value.value("ranks", Json())));
      whole ? ++counts_.metadata : ++counts_.malformed;
    }
  }

  void add_others(Json& meta) const {
    Json producer = Json::object();
    Json other = Json::object();
    std::uint64_t left_out = 0;
    for (const auto& [key, value] : dump_.items()) {
      if (key == "entries" || key == "pg_config" || key == "pg_status") continue;
      if (producer.size() + other.size() == kOtherMembers) {
        ++left_out;
      } else {
        (value.is_primitive() ? producer : other)[key] = value;
      }
    }
    meta["producer"] = std::move(producer);
    if (!other.empty()) meta["other"] = std::move(other);
    if (left_out > 0) meta["members_left_out"] = left_out;
  }

  const Json& dump_;
  bool byte_order_mark_;
  EventFileWriter& writer_;
  Lanes lanes_;
  LayerCounter layers_;
  SourceCounts counts_;
  std::string first_malformed_;
  std::map<std::string, std::uint64_t> states_;
  std::map<std::string, std::uint64_t> unknown_keys_;
  std::map<std::string, std::uint64_t> unread_;  // key -> entries in which it is not of its type
  Json malformed_ = Json::array();
  std::uint64_t contradictory_ = 0;
  std::string first_contradictory_;
  std::int64_t last_record_id_ = -1;
};

// Every rank is in the largest group of its job.
Json world_size_of(const Json& dump) {
  std::size_t most = 0;
  const auto config = dump.find("pg_config");
  if (config == dump.end() || !config->is_object()) return {};
  for (const auto& [name, group] : config->items()) {
    if (!group.is_object()) continue;
    if (const auto ranks = flight_ranks(group.value("ranks", Json()))) {
      most = std::max(most, ranks->size());
    }
  }
  return most == 0 ? Json() : Json(most);
}

}  // namespace

Result<SourceResult> import_flight(const SourceRequest& request, const FlightRank& rank,
                                   const std::string& output) {
  TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = request.stop}));
  bool byte_order_mark = false;
  auto dump = read_flight_dump(*input, &byte_order_mark);
  if (!dump) return with_source(dump.error(), request);
  Json meta = {{"dialect", std::string(kFlightDialect)},
               {"source", request.name},
               {"size_bytes", input->file_bytes()},
               {"rank", rank.rank ? Json(*rank.rank) : Json()},
               {"rank_from", "rank from " + rank.from},
               {"world_size", world_size_of(*dump)},
               {"clock", {{"base", "unix"}, {"unix_offset_ns", 0}}}};
  if (!rank.rank) meta["rank_from"] = "rank unknown";
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create(output, meta_text(meta)));
  FlightConverter converter(*dump, byte_order_mark, writer);
  TELLER_CHECK_OK(converter.convert());
  SourceResult result;
  result.counts = converter.counts();
  result.layers = converter.layers();
  const auto entries = dump->find("entries");
  if (entries != dump->end() && !entries->empty() &&
      result.counts.events + result.counts.unknown_total() == 0) {
    return with_source(
        unknown_trace_error("none of its " + std::to_string(entries->size()) +
                            " entries is one of a flight recorder, " + converter.first_malformed()),
        request);
  }
  result.notes = converter.notes();
  TELLER_CHECK_OK(read_to_end(request, *input, result.counts, result));
  converter.add_to(meta);
  meta["counts"] = result.counts.to_json();
  TELLER_CHECK_OK(writer.finish(meta_text(meta)));
  result.dialect = kFlightDialect;
  result.bytes = input->file_bytes();
  result.events_written = writer.events_written();
  result.clock = meta["clock"];
  result.rank = meta["rank"];
  result.world_size = meta["world_size"];
  return result;
}

}  // namespace teller
