#include "slice/baseline_json.h"

#include <array>
#include <cmath>
#include <optional>

#include "run_folder/locator.h"

namespace teller::slice_detail {
namespace {

// Far beyond what real deployments have.
constexpr std::size_t kMostKeys = 200'000;
constexpr std::size_t kMostValues = 100'000;
constexpr double kLargest = 1e18;

// --- writing ------------------------------------------------------------------------------------

Json fit_json(const Fit& fit) {
  if (!fit.known()) return nullptr;
  return {fit.a,
          fit.b,
          fit.c,
          fit.tokens_low,
          fit.tokens_high,
          fit.context_low,
          fit.context_high,
          fit.spread,
          fit.points};
}

Json norm_json(const SideNorm& norm) {
  if (!norm.known()) return nullptr;
  return {norm.centre, norm.spread, norm.count};
}

Json kinds_json(const std::map<StepKind, std::uint32_t>& kinds) {
  Json json = Json::array();
  for (const auto& [kind, steps] : kinds) json.push_back({kind, steps});
  return json;
}

Json key_json(const EntryKey& key) {
  return {{"family", key.key.family},
          {"layer", layer_name(key.key.layer)},
          {"phase", phase_name(key.key.phase)},
          {"owned", key.key.owned},
          {"duration", fit_json(key.model.duration)},
          {"self", fit_json(key.model.self)},
          {"mates", {key.mates.high, key.mates.spread}},
          {"first", key.first_medians},
          {"queue_delay", norm_json(key.sides.queue_delay)},
          {"gap", norm_json(key.sides.gap)},
          {"bytes", norm_json(key.sides.bytes)},
          {"kinds", kinds_json(key.kinds)},
          {"parent", key.parent}};
}

// --- reading ------------------------------------------------------------------------------------

// Reads values and remembers the first that is wrong.
class Reader {
 public:
  const std::string& wrong() const { return wrong_; }
  bool good() const { return wrong_.empty(); }
  void fail(const std::string& what) {
    if (good()) wrong_ = what;
  }

  Json get(const Json& object, const char* key) {
    if (object.is_object() && object.contains(key)) return object[key];
    return nullptr;
  }
  double number(const Json& value, const char* what) {
    if (!value.is_number()) return fail(std::string(what) + " must be a number"), 0;
    const double x = value.get<double>();
    if (!std::isfinite(x) || std::abs(x) > kLargest) {
      return fail(std::string(what) + " is out of range"), 0;
    }
    return x;
  }
  std::uint32_t count(const Json& value, const char* what, std::uint32_t limit = kNoIndex - 1) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > limit) {
      return fail(std::string(what) + " must be a whole number up to " + std::to_string(limit)), 0;
    }
    return value.get<std::uint32_t>();
  }
  std::string text(const Json& value, const char* what) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > kLongestText) {
      return fail(std::string(what) + " must be a string of at most 65536 bytes"), "";
    }
    return value.get<std::string>();
  }
  bool is_list(const Json& value, const char* what, std::size_t least, std::size_t most) {
    const bool good = value.is_array() && value.size() >= least && value.size() <= most;
    if (!good) {
      fail(std::string(what) + " must be a list of " + std::to_string(least) + " to " +
           std::to_string(most) + " values");
    }
    return good;
  }
  Fit fit(const Json& value, const char* what) {
    Fit fit;
    if (value.is_null() || !is_list(value, what, 9, 9)) return fit;
    double* const fields[] = {&fit.a,
                              &fit.b,
                              &fit.c,
                              &fit.tokens_low,
                              &fit.tokens_high,
                              &fit.context_low,
                              &fit.context_high,
                              &fit.spread};
    for (std::size_t i = 0; i < 8; ++i) *fields[i] = number(value[i], what);
    fit.points = count(value[8], what);
    if (fit.points == 0 || fit.spread < kSpreadFloor || fit.tokens_low > fit.tokens_high ||
        fit.context_low > fit.context_high) {
      fail(std::string(what) + " is no fit");
    }
    return fit;
  }
  SideNorm norm(const Json& value, const char* what) {
    SideNorm norm;
    if (value.is_null() || !is_list(value, what, 3, 3)) return norm;
    norm.centre = number(value[0], what);
    norm.spread = number(value[1], what);
    norm.count = count(value[2], what);
    if (norm.spread < kSideSpreadFloor || norm.count == 0) {
      fail(std::string(what) + " has no count or too small a spread");
    }
    return norm;
  }
  std::map<StepKind, std::uint32_t> kinds(const Json& value) {
    std::map<StepKind, std::uint32_t> kinds;
    if (!is_list(value, "kinds", 0, kKindCount)) return kinds;
    for (const Json& pair : value) {
      if (!is_list(pair, "a kind", 2, 2)) break;
      const StepKind kind = count(pair[0], "a kind", kKindCount - 1);
      kinds[kind] = count(pair[1], "steps of a kind");
    }
    return kinds;
  }

 private:
  std::string wrong_;
};

std::optional<Phase> phase_of(std::string_view name) {
  for (const Phase phase : {Phase::kUnknown, Phase::kPrefill, Phase::kDecode}) {
    if (phase_name(phase) == name) return phase;
  }
  return std::nullopt;
}

EntryKey read_key(Reader& read, const Json& json) {
  EntryKey key;
  if (!json.is_object()) return read.fail("a key must be an object"), key;
  key.key.family = read.text(read.get(json, "family"), "family");
  const auto layer = layer_of(read.text(read.get(json, "layer"), "layer"));
  const auto phase = phase_of(read.text(read.get(json, "phase"), "phase"));
  const Json owned = read.get(json, "owned");
  if (!layer) read.fail("layer must be one of STEP, FE, BE, RT, K, COMM");
  if (!phase) read.fail("phase must be one of unknown, prefill, decode");
  if (!owned.is_boolean()) read.fail("owned must be true or false");
  if (!read.good()) return key;
  key.key.layer = *layer;
  key.key.phase = *phase;
  key.key.owned = owned.get<bool>();
  key.model = {read.fit(read.get(json, "duration"), "duration"),
               read.fit(read.get(json, "self"), "self")};
  const Json mates = read.get(json, "mates");
  if (read.is_list(mates, "mates", 2, 2)) {
    key.mates = {read.number(mates[0], "mates"), read.number(mates[1], "mates")};
    if (key.mates.high < 0 || key.mates.spread < 0) read.fail("mates must not be negative");
  }
  const Json first = read.get(json, "first");
  if (read.is_list(first, "first", 0, kMostValues)) {
    for (const Json& x : first) key.first_medians.push_back(read.number(x, "first"));
  }
  key.sides = {read.norm(read.get(json, "queue_delay"), "queue_delay"),
               read.norm(read.get(json, "gap"), "gap"),
               read.norm(read.get(json, "bytes"), "bytes")};
  key.kinds = read.kinds(read.get(json, "kinds"));
  key.parent = read.text(read.get(json, "parent"), "parent");
  return key;
}

void read_schedule_norm(Reader& read, const Json& json, ScheduleNorm& norm) {
  if (json.is_null()) return;
  norm.known = true;
  norm.passed_over = read.count(read.get(json, "passed_over"), "passed_over");
  norm.preemptions = read.count(read.get(json, "preemptions"), "preemptions");
  norm.preemptions_per_served =
      read.number(read.get(json, "preemptions_per_served"), "preemptions_per_served");
  if (norm.preemptions_per_served < 0) read.fail("preemptions_per_served must not be negative");
}

void read_failures(Reader& read, const Json& json, FailureRates& failures) {
  if (!read.is_list(json, "failures", 0, kMostValues)) return;
  for (const Json& one : json) {
    if (!read.is_list(one, "a failure", 3, 3)) return;
    if (!one[1].is_number_integer()) return read.fail("the code of a failure must be whole");
    const std::string family = read.text(one[0], "the call of a failure");
    failures[{family, one[1].get<std::int64_t>()}] = read.number(one[2], "the rate of a failure");
  }
}

void read_collectives(Reader& read, const Json& json, CollectiveNorms& norms) {
  if (!read.is_list(json, "collectives", 0, kMostValues)) return;
  for (const Json& one : json) {
    CollectiveNorm norm;
    norm.late_spread_ns = read.number(read.get(one, "late_spread_ns"), "late_spread_ns");
    norm.transfer = read.norm(read.get(one, "transfer"), "transfer");
    if (norm.late_spread_ns < kLateFloorNs) read.fail("late_spread_ns is too small");
    norms[read.text(read.get(one, "family"), "the family of a collective")] = norm;
  }
}

void read_runs(Reader& read, const Json& json, Json& runs) {
  if (!read.is_list(json, "runs", 0, kMostValues)) return;
  for (const Json& run : json) {
    runs.push_back({{"name", read.text(read.get(run, "name"), "the name of a run")},
                    {"chains", read.text(read.get(run, "chains"), "the digest of a run")},
                    {"steps", read.count(read.get(run, "steps"), "the steps of a run")},
                    {"requests", read.count(read.get(run, "requests"), "the requests of a run")}});
  }
}

}  // namespace

Json entry_json(const BaselineEntry& entry) {
  Json json;
  json["name"] = entry.name;
  json["runs"] = entry.runs;
  json["schedule"] = nullptr;
  if (entry.norm.known) {
    json["schedule"] = {{"passed_over", entry.norm.passed_over},
                        {"preemptions", entry.norm.preemptions},
                        {"preemptions_per_served", entry.norm.preemptions_per_served}};
  }
  json["kinds"] = kinds_json(entry.kinds);
  json["failures"] = Json::array();
  for (const auto& [what, rate] : entry.failures) {
    json["failures"].push_back({what.first, what.second, rate});
  }
  json["collectives"] = Json::array();
  for (const auto& [family, norm] : entry.collectives) {
    json["collectives"].push_back({{"family", family},
                                   {"late_spread_ns", norm.late_spread_ns},
                                   {"transfer", norm_json(norm.transfer)}});
  }
  json["keys"] = Json::array();
  for (const EntryKey& key : entry.keys) json["keys"].push_back(key_json(key));
  return json;
}

Result<BaselineEntry> read_entry(const Json& json) {
  Reader read;
  BaselineEntry entry;
  if (!json.is_object()) return Error{ErrorCode::kCorrupt, "an entry must be an object", ""};
  entry.name = read.text(read.get(json, "name"), "name");
  read_runs(read, read.get(json, "runs"), entry.runs);
  read_schedule_norm(read, read.get(json, "schedule"), entry.norm);
  entry.kinds = read.kinds(read.get(json, "kinds"));
  read_failures(read, read.get(json, "failures"), entry.failures);
  read_collectives(read, read.get(json, "collectives"), entry.collectives);
  const auto keys = json.find("keys");
  if (keys == json.end()) read.fail("keys are missing");
  if (read.good() && read.is_list(*keys, "keys", 0, kMostKeys)) {
    for (const Json& key : *keys) {
      entry.keys.push_back(read_key(read, key));
      if (!read.good()) break;
    }
  }
  if (read.good()) return entry;
  std::string where = "entry \"" + entry.name.substr(0, 64) + "\"";
  if (!entry.keys.empty()) where += ", key " + std::to_string(entry.keys.size());
  return Error{ErrorCode::kCorrupt, where + ": " + read.wrong(), ""};
}

}  // namespace teller::slice_detail
