#include "slice/baseline_file.h"

#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "slice/baseline_json.h"
#include "slice/slice.h"

namespace teller::slice_detail {
namespace {

constexpr std::uint64_t kLargestFile = 256u << 20;
constexpr std::size_t kMostEntries = 1000;
constexpr const char* kFormat = "teller.baseline";
constexpr const char* kRemedy = "make it with teller slice HEALTHY --save-baseline FILE";

Error bad_file(const std::string& path, const std::string& why) {
  return {ErrorCode::kCorrupt, "reading baseline file " + path + ": " + why, kRemedy};
}

// The document, with "entries" a list.
Result<Json> read_document(const std::string& path) {
  TELLER_TRY(const std::string text, read_file(path, "baseline file", kLargestFile));
  Json json = parse_json(text);
  if (!json.is_object() || json.value("format", Json()) != kFormat) {
    return bad_file(path, "it is no JSON of format teller.baseline");
  }
  const Json version = json.value("version", Json());
  if (version != 1) {
    return Error{ErrorCode::kUnsupported,
                 "reading baseline file " + path + ": it has version " +
                     version.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 32) +
                     ", this teller reads version 1",
                 kRemedy};
  }
  const auto entries = json.find("entries");
  if (entries == json.end() || !entries->is_array() || entries->size() > kMostEntries) {
    return bad_file(path, "\"entries\" must be a list of at most 1000");
  }
  return json;
}

}  // namespace

BaselineEntry entry_of(const Baseline& baseline, const KeyTable& keys) {
  BaselineEntry entry;
  std::map<OpKey, EntryKey> sorted;
  for (std::uint32_t id = 0; id < keys.size(); ++id) {
    EntryKey one{keys.key(id),
                 baseline.models[id],
                 baseline.mates[id],
                 baseline.first_medians[id],
                 baseline.sides[id],
                 {},
                 ""};
    if (id < baseline.kinds.keys.size()) {
      one.kinds = baseline.kinds.keys[id];
      one.parent = baseline.kinds.parents[id];
    }
    // Names beyond what a file may hold are no operators'.
    if (one.key.family.size() > kLongestText) continue;
    if (one.parent.size() > kLongestText) one.parent.clear();
    const bool known = one.model.self.known() || !one.kinds.empty() || !one.first_medians.empty();
    if (known) sorted.emplace(one.key, std::move(one));
  }
  for (auto& [key, one] : sorted) entry.keys.push_back(std::move(one));
  entry.norm = baseline.norm;
  entry.kinds = baseline.kinds.steps;
  entry.failures = baseline.failures;
  entry.collectives = baseline.collectives;
  return entry;
}

Baseline baseline_of(const BaselineEntry& entry, KeyTable& keys) {
  Baseline baseline;
  baseline.external = true;
  std::vector<std::uint32_t> ids;
  for (const EntryKey& key : entry.keys) ids.push_back(keys.id(key.key));
  baseline.models.resize(keys.size());
  baseline.mates.resize(keys.size());
  baseline.first_medians.resize(keys.size());
  baseline.sides.resize(keys.size());
  baseline.kinds.keys.resize(keys.size());
  baseline.kinds.parents.resize(keys.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const EntryKey& key = entry.keys[i];
    baseline.models[ids[i]] = key.model;
    baseline.mates[ids[i]] = key.mates;
    baseline.first_medians[ids[i]] = key.first_medians;
    baseline.sides[ids[i]] = key.sides;
    baseline.kinds.keys[ids[i]] = key.kinds;
    baseline.kinds.parents[ids[i]] = key.parent;
  }
  baseline.norm = entry.norm;
  baseline.kinds.steps = entry.kinds;
  baseline.failures = entry.failures;
  baseline.collectives = entry.collectives;
  // Counted where the runs were at hand; empty tables say that nothing is known.
  baseline.run.keys.resize(keys.size());
  baseline.healthy.keys.resize(keys.size());
  return baseline;
}

Status save_entry(const std::string& path, const BaselineEntry& entry) {
  Json document = {{"format", kFormat}, {"version", 1}, {"entries", Json::array()}};
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    TELLER_CHECK_OK(read_entries(path));  // never adds to what is broken
    TELLER_TRY(document, read_document(path));
  }
  const Json made = entry_json(entry);
  if (const auto read = read_entry(made); !read) {  // never writes what cannot be read
    return Error{ErrorCode::kUnsupported,
                 "writing baseline file " + path + ": " + read.error().message,
                 "learn from other runs, or give another --baseline-name"};
  }
  bool replaced = false;
  for (Json& one : document["entries"]) {
    if (replaced || one.value("name", Json()) != entry.name) continue;
    one = made;
    replaced = true;
  }
  if (!replaced) document["entries"].push_back(made);
  if (document["entries"].size() > kMostEntries) {
    return Error{ErrorCode::kUsage, "writing baseline file " + path + ": it has 1000 entries",
                 "write another file"};
  }
  return write_file_atomic(path,
                           document.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n");
}

Result<std::vector<BaselineEntry>> read_entries(const std::string& path) {
  TELLER_TRY(const Json document, read_document(path));
  std::vector<BaselineEntry> entries;
  for (const Json& json : document["entries"]) {
    auto entry = read_entry(json);
    if (!entry) return bad_file(path, entry.error().message);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Chosen choose_entry(const std::vector<BaselineEntry>& entries,
                    const std::vector<Observation>& observations, const KeyTable& keys) {
  std::vector<double> time(keys.size(), 0);
  double total = 0;
  for (const Observation& o : observations) {
    time[o.key] += std::exp(static_cast<double>(o.log_self));
    total += std::exp(static_cast<double>(o.log_self));
  }
  Chosen best;
  for (const BaselineEntry& entry : entries) {
    std::set<OpKey> known;
    for (const EntryKey& key : entry.keys) {
      if (key.model.self.known()) known.insert(key.key);
    }
    double covered = 0;
    for (std::uint32_t id = 0; id < keys.size(); ++id) {
      if (time[id] > 0 && known.count(keys.key(id)) != 0) covered += time[id];
    }
    const double covers = total > 0 ? covered / total : 0;
    if (best.entry == nullptr || covers > best.covers) best = {&entry, covers};
  }
  return best;
}

}  // namespace teller::slice_detail

namespace teller {

Status check_baseline_file(const std::string& path) {
  TELLER_CHECK_OK(slice_detail::read_entries(path));
  return {};
}

}  // namespace teller
