#include "horizontal/horizontal.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "horizontal/comparison.h"
#include "horizontal/middle.h"
#include "horizontal/output.h"
#include "run_folder/open_chains.h"

namespace teller {

using Json = nlohmann::ordered_json;
using namespace horizontal_detail;

namespace {

constexpr std::uint64_t kReportLimit = 256u << 20;

// Two sources of different ranks, or two with collectives: they may be different ranks that state
// the same one.
bool may_compare(const Chains& chains) {
  std::set<std::int32_t> ranks;
  for (std::size_t i = 0; i < chains.source_count() && ranks.size() < 2; ++i) {
    const std::int32_t rank = chains.rank_of_source(static_cast<std::uint16_t>(i));
    if (rank >= 0) ranks.insert(rank);
  }
  if (ranks.size() == 2) return true;
  std::uint32_t first = kNoIndex;
  for (std::uint32_t node = 0; node < chains.node_count() && chains.source_count() > 1; ++node) {
    if ((chains.nodes.flags[node] & kNodeCollective) == 0) continue;
    if (first == kNoIndex) first = chains.nodes.source[node];
    if (chains.nodes.source[node] != first) return true;
  }
  return false;
}

double number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : 0;
}

// What a healthy run's comparison says of its pace; adds it to `paces` if there is one.
void add_pace(const std::string& path, std::vector<Pace>& paces) {
  const auto run = RunFolder::open(path);
  if (!run || !run->require_artifact("horizontal")) return;
  const auto text = read_file(run->file(kHorizontalFile), "comparison of ranks", kReportLimit);
  const Json json = text ? parse_json(*text) : Json();
  if (!json.is_object() || !json.contains("pace") || !json["pace"].is_object()) return;
  Pace pace;
  pace.units = static_cast<std::size_t>(std::max(number_at(json["pace"], "units"), 0.0));
  pace.step_ns = number_at(json["pace"], "step_ns");
  const auto own = json["pace"].find("own_ns");
  if (own == json["pace"].end() || !own->is_array()) return;
  for (const Json& ns : *own) {
    if (ns.is_number()) pace.own_ns.push_back(ns.get<double>());
  }
  paces.push_back(std::move(pace));
}

// What is usual of several healthy runs.
std::optional<Pace> healthy_pace(const std::vector<std::string>& baselines) {
  std::vector<Pace> paces;
  for (const std::string& path : baselines) add_pace(path, paces);
  if (paces.empty()) return std::nullopt;
  Pace all;
  std::vector<double> steps;
  for (const Pace& one : paces) {
    all.units += one.units;
    steps.push_back(one.step_ns);
    all.own_ns.push_back(median(one.own_ns));
  }
  all.step_ns = median(std::move(steps));
  return all;
}

}  // namespace

namespace horizontal_detail {

Result<Comparison> compare(const RunFolder& run, const Chains& chains) {
  Comparison found;
  TELLER_TRY(found.operations, find_operations(run, chains));
  found.matching = match(found.operations);
  found.clocks = align_clocks(found.operations, found.matching);
  found.measures = measure(found.operations, found.matching, found.clocks);
  found.lateness = find_lateness(chains, found.operations, found.matching, found.measures);
  found.pace = find_pace(found);
  return found;
}

}  // namespace horizontal_detail

Result<std::optional<HorizontalSummary>> compare_ranks(RunFolder& run,
                                                       const HorizontalOptions& options) {
  TELLER_TRY(const Chains chains, open_chains(run));
  if (!may_compare(chains)) return std::optional<HorizontalSummary>();
  TELLER_TRY(Comparison found, compare(run, chains));
  if (found.operations.ranks.size() < 2 && found.operations.shared.empty()) {
    return std::optional<HorizontalSummary>();
  }
  const std::optional<Pace> healthy = healthy_pace(options.baselines);
  judge(chains, healthy ? &*healthy : nullptr, found);
  const Json json = comparison_json(chains, found);
  HorizontalSummary summary;
  summary.json = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  summary.text = comparison_text(json);
  TELLER_CHECK_OK(write_file_atomic(run.file(kHorizontalFile), summary.json));
  TELLER_CHECK_OK(write_collectives(found, run.file(kCollectivesFile)));
  ArtifactInfo info;
  info.name = "horizontal";
  info.files = {kHorizontalFile, kCollectivesFile};
  info.made_by = "reconstruct";
  info.records = found.matching.collectives.size();
  info.from = {"chains", "events"};
  info.options_json = Json({{"healthy_runs", healthy ? options.baselines.size() : 0}}).dump();
  TELLER_CHECK_OK(run.publish(info));
  TELLER_CHECK_OK(run.save());
  return std::optional<HorizontalSummary>(std::move(summary));
}

}  // namespace teller
