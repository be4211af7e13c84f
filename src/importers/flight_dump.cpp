#include "importers/flight_dump.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "base/json.h"
#include "base/keep_common.h"
#include "importers/json_text.h"
#include "importers/pickle_reader.h"
#include "importers/source_import.h"
#include "run_folder/flight_record.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 256u << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kDumpKeys[] = {"version",         "entries",      "pg_config",
                                          "pg_status",       "nccl_version", "nccl_comm_state",
                                          "comm_lib_version"};

bool is_dump(const Json& value) {
  if (!value.is_object()) return false;
  const auto entries = value.find("entries");
  const auto groups = value.find("pg_config");
  if (entries != value.end()) return entries->is_array();
  return groups != value.end() && groups->is_object();
}

Result<std::string> read_whole(InputStream& input) {
  std::string bytes;
  while (true) {
    TELLER_TRY(const std::string_view piece, input.next());
    if (piece.empty()) break;
    if (bytes.size() + piece.size() > kMostBytes) {
      return Error{ErrorCode::kUnsupported,
                   "it has more than " + std::to_string(kMostBytes >> 20) +
                       " MiB, a flight recorder dump of at most that is read",
                   "a smaller TORCH_FR_BUFFER_SIZE makes smaller dumps"};
    }
    bytes += piece;
  }
  if (!input.cut_reason().empty()) {
    return Error{ErrorCode::kCorrupt, input.cut_reason(), "copy the file again"};
  }
  return bytes;
}

// The text with each number that JSON or a double does not know (NaN, 400 digits) replaced by one
// that no field of a dump has, so that it costs its field alone.
std::string without_odd_numbers(std::string_view text) {
  constexpr std::string_view kPlain = "1.5e308";
  std::string good;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (in_text || c == '"') {
      const std::size_t count =
          in_text && c == '\\' ? std::min<std::size_t>(2, text.size() - i) : 1;
      if (count == 1 && c == '"') in_text = !in_text;
      good += text.substr(i, count);
      i += count;
      continue;
    }
    std::size_t end = text.find_first_of(",:[]{}\" \t\r\n", i);
    end = std::min(end, text.size());
    const std::string_view word = text.substr(i, std::max<std::size_t>(end - i, 1));
    double number = 0;
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const bool odd =
        rest == word.data() + word.size() && (error == std::errc::result_out_of_range ||
                                              (error == std::errc() && !std::isfinite(number)));
    const bool named = word == "NaN" || word == "Infinity" || word == "-Infinity";
    good += odd || named ? kPlain : word;
    i += word.size();
  }
  return good;
}

Result<Json> parse_text(std::string_view text) {
  const JsonTreeFit fit = json_tree_fit(text);
  if (fit == JsonTreeFit::kManyValues) {
    return Error{ErrorCode::kUnsupported,
                 "it has more than " + std::to_string(kMostJsonValues) +
                     " values, a flight recorder dump of at most that is read",
                 "a smaller TORCH_FR_BUFFER_SIZE makes smaller dumps"};
  }
  if (fit != JsonTreeFit::kFits) {
    return unknown_trace_error("its JSON is nested too deeply or has too many members");
  }
  Json value = parse_json(text);
  if (value.is_discarded()) value = parse_json(without_odd_numbers(text));
  if (value.is_discarded()) {
    return unknown_trace_error("it begins like a flight recorder dump, and is not one JSON value");
  }
  return value;
}

std::vector<int> sorted(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

// A rank is in each group that its process made, and only those are in its pg_config.
std::map<std::string, std::vector<int>> groups_of(const Json& dump) {
  std::map<std::string, std::vector<int>> groups;
  const auto config = dump.find("pg_config");
  if (config == dump.end() || !config->is_object()) return groups;
  for (const auto& [name, group] : config->items()) {
    if (!group.is_object() || !group.contains("ranks")) continue;
    if (auto ranks = flight_ranks(group["ranks"])) groups[name] = std::move(*ranks);
  }
  return groups;
}

// "send 2->3" in a group of ranks 4, 5, 6, 7 was written by rank 6.
void narrow_by_entries(const Json& dump, const std::map<std::string, std::vector<int>>& groups,
                       std::optional<std::vector<int>>& candidates) {
  const auto entries = dump.find("entries");
  if (entries == dump.end() || !entries->is_array()) return;
  for (const Json& json : *entries) {
    std::string why;
    const auto entry = read_flight_entry(json, why);
    const auto peers = entry ? flight_peers(entry->name) : std::nullopt;
    const auto group = peers ? groups.find(entry->group) : groups.end();
    if (group == groups.end()) continue;
    const auto self = static_cast<std::size_t>(peers->self);
    if (self < group->second.size()) keep_common(candidates, {group->second[self]});
  }
}

std::optional<int> number_at_end(std::string_view name) {
  for (const std::string_view ending : {".gz", ".json", ".pickle", ".pkl", ".bin"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.remove_suffix(ending.size());
  }
  std::size_t digits = 0;
  while (digits < name.size() && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    ++digits;
  }
  if (digits == 0 || digits > 7) return std::nullopt;
  return std::stoi(std::string(name.substr(name.size() - digits)));
}

// Gives ranks out, and strikes those given from what the other dumps may be. Near-linear in the
// candidates of all dumps together.
class RankResolver {
 public:
  explicit RankResolver(const std::vector<FlightClue>& clues)
      : clues_(clues), ranks_(clues.size()), left_(clues.size()) {}

  std::vector<FlightRank> resolve() {
    for (std::size_t i = 0; i < clues_.size(); ++i) {
      if (!clues_[i].candidates) continue;
      left_[i] = clues_[i].candidates->size();
      for (const int rank : *clues_[i].candidates) may_be_[rank].push_back(i);
    }
    for (std::size_t i = 0; i < clues_.size(); ++i) {
      if (left_[i] == 1) give(i, clues_[i].candidates->front(), "content");
    }
    take_away();
    if (names_agree()) give_by_name();
    return ranks_;
  }

 private:
  void give(std::size_t index, int rank, const char* from) {
    ranks_[index].rank = rank;
    ranks_[index].from = from;
    if (given_.insert(rank).second) to_strike_.push_back(rank);
  }

  // Two dumps of one rank are two dumps all the same: only others are struck.
  void take_away() {
    while (!to_strike_.empty()) {
      const int struck = to_strike_.back();
      to_strike_.pop_back();
      for (const std::size_t i : may_be_[struck]) {
        if (ranks_[i].rank || --left_[i] != 1) continue;
        for (const int rank : *clues_[i].candidates) {
          if (given_.contains(rank)) continue;
          give(i, rank, "other dumps");
          break;
        }
      }
    }
  }

  bool names_agree() const {
    for (std::size_t i = 0; i < clues_.size(); ++i) {
      if (ranks_[i].rank && clues_[i].in_name != ranks_[i].rank) return false;
    }
    return true;
  }

  // More dumps than there can be ranks, and names that number all of them: several are of one rank,
  // at several moments.
  bool ranks_repeat() const {
    std::set<int> named;
    for (const FlightClue& clue : clues_) {
      if (!clue.candidates || !clue.in_name || !may_be_.contains(*clue.in_name)) return false;
      named.insert(*clue.in_name);
    }
    return clues_.size() > may_be_.size() && named.size() == may_be_.size();
  }

  // A number that several names have is nobody's: each host may count its own.
  void give_by_name() {
    const bool repeat = ranks_repeat();
    std::map<int, int> wanted;
    for (std::size_t i = 0; i < clues_.size(); ++i) {
      if (!ranks_[i].rank && clues_[i].in_name) ++wanted[*clues_[i].in_name];
    }
    for (std::size_t i = 0; i < clues_.size(); ++i) {
      if (ranks_[i].rank || !clues_[i].in_name) continue;
      const int rank = *clues_[i].in_name;
      const auto& candidates = clues_[i].candidates;
      const bool may_be =
          !candidates || std::binary_search(candidates->begin(), candidates->end(), rank);
      const bool once = wanted[rank] == 1 && !given_.contains(rank);
      if (may_be && (once || repeat)) give(i, rank, "file name");
    }
  }

  const std::vector<FlightClue>& clues_;
  std::vector<FlightRank> ranks_;
  std::vector<std::size_t> left_;                   // by clue: candidates that are not given
  std::map<int, std::vector<std::size_t>> may_be_;  // rank -> clues
  std::set<int> given_;
  std::vector<int> to_strike_;
};

}  // namespace

bool looks_like_flight_dump(std::string_view head) {
  if (is_pickle(head)) return true;
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  head = trim_blank(head);
  if (!head.starts_with('{')) return false;
  head = trim_blank(head.substr(1));
  if (!head.starts_with('"')) return false;
  head.remove_prefix(1);
  const std::string_view key = head.substr(0, head.find('"'));
  return std::find(std::begin(kDumpKeys), std::end(kDumpKeys), key) != std::end(kDumpKeys);
}

Result<Json> read_flight_dump(InputStream& input, bool* byte_order_mark) {
  TELLER_TRY(const std::string bytes, read_whole(input));
  const bool pickle = is_pickle(bytes);
  std::string_view text = bytes;
  const bool marked = !pickle && text.starts_with(kByteOrderMark);
  if (marked) text.remove_prefix(kByteOrderMark.size());
  if (byte_order_mark != nullptr) *byte_order_mark = marked;
  auto value = pickle ? read_pickle(bytes) : parse_text(text);
  if (!value) return value;
  if (!is_dump(*value)) {
    return unknown_trace_error(std::string("its ") + (pickle ? "pickle" : "JSON") +
                               " is no flight recorder dump: it has neither \"entries\" nor "
                               "\"pg_config\"");
  }
  const auto groups = value->find("pg_config");
  const std::string many = groups == value->end() ? "" : too_many_flight_ranks(*groups);
  if (!many.empty()) {
    return Error{ErrorCode::kUnsupported, many, "check that this is a dump as PyTorch wrote it"};
  }
  return value;
}

FlightClue flight_clue(const Json& dump, std::string_view file_name) {
  FlightClue clue;
  clue.in_name = number_at_end(file_name);
  const auto groups = groups_of(dump);
  for (const auto& [name, ranks] : groups) keep_common(clue.candidates, sorted(ranks));
  narrow_by_entries(dump, groups, clue.candidates);
  return clue;
}

std::vector<FlightRank> resolve_flight_ranks(const std::vector<FlightClue>& clues) {
  return RankResolver(clues).resolve();
}

}  // namespace teller
