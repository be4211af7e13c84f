#include "run_folder/flight_record.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostRank = 10'000'000;
constexpr std::size_t kMostSizes = 4096;
constexpr std::size_t kMostFrames = 256;

constexpr std::string_view kEntryKeys[] = {"record_id",
                                           "pg_id",
                                           "process_group",
                                           "pg_name",
                                           "collective_seq_id",
                                           "seq_id",
                                           "p2p_seq_id",
                                           "op_id",
                                           "profiling_name",
                                           "time_created_ns",
                                           "time_discovered_started_ns",
                                           "time_discovered_completed_ns",
                                           "duration_ms",
                                           "state",
                                           "input_sizes",
                                           "output_sizes",
                                           "input_dtypes",
                                           "output_dtypes",
                                           "retired",
                                           "timeout_ms",
                                           "is_p2p",
                                           "thread_name",
                                           "thread_id",
                                           "frames",
                                           "stack_id"};

// Versions of the dump that were looked at.
constexpr int kVersionMajor = 2;
constexpr int kNewestMinor = 10;
constexpr std::size_t kShownVersion = 32;

// Reads fields of an entry, and keeps the keys of those that are not of their kind.
class Fields {
 public:
  Fields(const Json& json, std::vector<std::string>& unread) : json_(json), unread_(unread) {}

  std::optional<std::int64_t> number(const char* key) {
    const Json& value = member(json_, key);
    const auto read = flight_number(value);
    if (!read && !value.is_null()) unread_.emplace_back(key);
    return read;
  }
  std::int64_t number_or(const char* key, std::int64_t fallback) {
    return number(key).value_or(fallback);
  }
  // The JSON form of the dump writes 0 for a time that is not there.
  std::optional<std::int64_t> time(const char* key) {
    const auto read = number(key);
    return read && *read > 0 ? read : std::nullopt;
  }
  std::vector<std::vector<std::int64_t>> sizes(const char* key);
  std::vector<std::string> texts(const char* key);
  bool flag(const char* key, bool fallback) {
    const Json& value = member(json_, key);
    if (value.is_boolean()) return value.get<bool>();
    if (!value.is_null()) unread_.emplace_back(key);
    return fallback;
  }

 private:
  const Json& json_;
  std::vector<std::string>& unread_;
};

FlightState state_of(std::string_view text) {
  if (text == "scheduled") return FlightState::kScheduled;
  if (text == "started") return FlightState::kStarted;
  if (text == "completed") return FlightState::kCompleted;
  return FlightState::kUnknown;
}

// [name, description]; older dumps have the name alone.
void read_group(const Json& json, FlightEntry& entry) {
  const Json& group = member(json, "process_group");
  if (group.is_array() && !group.empty() && group[0].is_string()) {
    entry.group = group[0].get<std::string>();
    if (group.size() > 1 && group[1].is_string()) entry.description = group[1].get<std::string>();
  } else if (group.is_string()) {
    entry.group = group.get<std::string>();
  } else {
    entry.group = text_of(json, "pg_name");
  }
}

// A size that is none is -1.
std::vector<std::vector<std::int64_t>> Fields::sizes(const char* key) {
  std::vector<std::vector<std::int64_t>> sizes;
  const Json& list = member(json_, key);
  bool good = list.is_array() || list.is_null();
  for (const Json& tensor : list.is_array() ? list : Json::array()) {
    if (sizes.size() == kMostSizes) break;
    std::vector<std::int64_t>& one = sizes.emplace_back();
    if (!tensor.is_array()) {
      one.push_back(-1);
      good = false;
      continue;
    }
    for (const Json& size : tensor) {
      one.push_back(flight_number(size).value_or(-1));
      good = good && one.back() >= 0;
    }
  }
  if (!good) unread_.emplace_back(key);
  return sizes;
}

// A text that is none is "".
std::vector<std::string> Fields::texts(const char* key) {
  std::vector<std::string> texts;
  const Json& list = member(json_, key);
  bool good = list.is_array() || list.is_null();
  for (const Json& text : list.is_array() ? list : Json::array()) {
    if (texts.size() == kMostSizes) break;
    texts.push_back(text.is_string() ? text.get<std::string>() : "");
    good = good && text.is_string();
  }
  if (!good) unread_.emplace_back(key);
  return texts;
}

// PyTorch makes the state out of the times, and takes them one after the other.
std::string contradiction_in(const FlightEntry& entry) {
  const std::string state = "its state is " + entry.state_text;
  const bool completed = entry.state == FlightState::kCompleted;
  const bool scheduled = entry.state == FlightState::kScheduled;
  if (entry.completed_ns && !completed) return state + ", but it has a time of completion";
  if (entry.started_ns && scheduled) return state + ", but it has a time of start";
  if (entry.started_ns.value_or(entry.created_ns) < entry.created_ns) {
    return "it was started before it was created";
  }
  const std::int64_t begun = entry.started_ns.value_or(entry.created_ns);
  if (entry.completed_ns.value_or(begun) < begun) {
    return std::string("it was completed before it was ") +
           (entry.started_ns ? "started" : "created");
  }
  return "";
}

std::vector<std::string> frames_of(const Json& json) {
  std::vector<std::string> frames;
  const Json& list = member(json, "frames");
  if (!list.is_array()) return frames;
  for (const Json& frame : list) {
    if (frames.size() == kMostFrames) break;
    if (!frame.is_object()) continue;
    const auto line = flight_number(member(frame, "line"));
    frames.push_back(text_of(frame, "name") + " " + text_of(frame, "filename") +
                     (line ? ":" + std::to_string(*line) : ""));
  }
  return frames;
}

std::optional<int> small_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= 0 && number <= kMostRank ? std::optional(number) : std::nullopt;
}

std::string_view without_library(std::string_view name) {
  const auto colon = name.find(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

std::optional<std::vector<int>> ranks_in_text(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<int> ranks;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    const auto rank = small_number(one);
    if (!rank) return std::nullopt;
    ranks.push_back(*rank);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return ranks;
}

std::optional<std::vector<int>> ranks_in_array(const Json& array) {
  std::vector<int> ranks;
  for (const Json& one : array) {
    const auto rank = flight_number(one);
    if (!rank || *rank < 0 || *rank > kMostRank) return std::nullopt;
    ranks.push_back(static_cast<int>(*rank));
  }
  return ranks;
}

}  // namespace

std::optional<std::int64_t> flight_number(const Json& value) {
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return std::nullopt;
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

bool is_flight_entry_key(std::string_view key) {
  return std::find(std::begin(kEntryKeys), std::end(kEntryKeys), key) != std::end(kEntryKeys);
}

std::optional<FlightEntry> read_flight_entry(const Json& json, std::string& why) {
  const auto lacks = [&](const char* what) {
    why = what;
    return std::nullopt;
  };
  if (!json.is_object()) return lacks("it is no dict");
  FlightEntry entry;
  entry.name = text_of(json, "profiling_name");
  if (entry.name.empty()) return lacks("it has no profiling_name");
  read_group(json, entry);
  if (entry.group.empty()) return lacks("it has no process_group");
  Fields fields(json, entry.unread);
  const auto created = fields.time("time_created_ns");
  if (!created) return lacks("it has no time_created_ns");
  entry.state_text = text_of(json, "state");
  if (entry.state_text.empty()) return lacks("it has no state");
  entry.created_ns = *created;
  entry.state = state_of(entry.state_text);
  entry.started_ns = fields.time("time_discovered_started_ns");
  entry.completed_ns = fields.time("time_discovered_completed_ns");
  entry.record_id = fields.number_or("record_id", -1);
  entry.pg_id = fields.number_or("pg_id", -1);
  const bool named = json.contains("collective_seq_id");
  entry.seq = fields.number_or(named ? "collective_seq_id" : "seq_id", -1);
  entry.p2p_seq = fields.number_or("p2p_seq_id", -1);
  entry.op_id = fields.number_or("op_id", -1);
  entry.p2p = fields.flag("is_p2p", flight_peers(entry.name).has_value());
  entry.retired = fields.flag("retired", false);
  entry.inputs = fields.sizes("input_sizes");
  entry.outputs = fields.sizes("output_sizes");
  entry.input_types = fields.texts("input_dtypes");
  entry.output_types = fields.texts("output_dtypes");
  entry.frames = frames_of(json);
  entry.contradiction = contradiction_in(entry);
  return entry;
}

std::optional<FlightPeers> flight_peers(std::string_view name) {
  name = without_library(name);
  FlightPeers peers;
  peers.send = name.starts_with("send ");
  if (!peers.send && !name.starts_with("recv ")) return std::nullopt;
  name.remove_prefix(5);
  const auto arrow = name.find(peers.send ? "->" : "<-");
  if (arrow == std::string_view::npos) return std::nullopt;
  const auto self = small_number(name.substr(0, arrow));
  const auto other = small_number(name.substr(arrow + 2));
  if (!self || !other) return std::nullopt;
  peers.self = *self;
  peers.other = *other;
  return peers;
}

std::string flight_operation(std::string_view name) {
  name = without_library(name);
  name = name.substr(0, name.find(' '));
  while (name.starts_with('_')) name.remove_prefix(1);
  for (const std::string_view ending : {"_coalesced", "_base", "_into_tensor", "_tensor"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  if (name == "all_to_allv") name.remove_suffix(1);
  return std::string(name);
}

std::optional<std::vector<int>> flight_ranks(const Json& value) {
  if (value.is_string()) return ranks_in_text(value.get_ref<const std::string&>());
  if (value.is_array()) return ranks_in_array(value);
  return std::nullopt;
}

std::string flight_version_note(const Json& version) {
  if (version.is_null()) return "it does not state its version: it is read as one that is known";
  const std::string stated =
      version.is_string()
          ? version.get<std::string>().substr(0, kShownVersion)
          : version.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, kShownVersion);
  const auto point = stated.find('.');
  const auto major = small_number(std::string_view(stated).substr(0, point));
  const auto minor = point == std::string::npos
                         ? std::nullopt
                         : small_number(std::string_view(stated).substr(point + 1));
  if (major && minor && *major == kVersionMajor && *minor <= kNewestMinor) return "";
  const bool newer = major && minor && *major >= kVersionMajor;
  const bool older = major && minor && !newer;
  return "its version is " + stated + ", " +
         (newer   ? "newer than"
          : older ? "older than"
                  : "none of") +
         " those that are known (2.0 to 2." + std::to_string(kNewestMinor) +
         "): its fields are read as theirs, and may mean something else";
}

std::string too_many_flight_ranks(const Json& groups) {
  if (!groups.is_object()) return "";
  std::size_t listed = 0;
  for (const auto& [name, group] : groups.items()) {
    const auto ranks = group.is_object() ? group.find("ranks") : group.end();
    if (!group.is_object() || ranks == group.end()) continue;
    std::size_t count = ranks->is_array() ? ranks->size() : 0;
    if (ranks->is_string()) {
      const auto& text = ranks->get_ref<const std::string&>();
      count = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), ','));
    }
    listed += count;
    if (count > kMostFlightRanks) {
      return "its process group \"" + name.substr(0, 64) + "\" lists " + std::to_string(count) +
             " ranks, at most " + std::to_string(kMostFlightRanks) + " are read";
    }
  }
  if (listed <= kMostFlightRanksListed) return "";
  return "its process groups list " + std::to_string(listed) + " ranks, at most " +
         std::to_string(kMostFlightRanksListed) + " are read";
}

}  // namespace teller
