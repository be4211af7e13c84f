#include "slice/learn.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "run_folder/locator.h"
#include "run_folder/open_chains.h"
#include "slice/baseline_file.h"

namespace teller::slice_detail {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastCover = 0.5;  // of the run's self time, for a baseline file's entry

// A healthy run, opened.
struct HealthyRun {
  std::unique_ptr<const Chains> chains;  // stays where it is
  LearnRun run;
};

Result<HealthyRun> open_healthy(const std::string& path, const std::string& own_digest,
                                KeyTable& keys) {
  auto folder = RunFolder::open(path);
  if (!folder) {
    folder.error().message = "baseline: " + folder.error().message;
    return folder.error();
  }
  auto chains = open_chains(*folder);
  if (!chains) {
    chains.error().message = "baseline: " + chains.error().message;
    return chains.error();
  }
  const std::string digest = digest_of(*folder);
  if (!digest.empty() && digest == own_digest) {
    return Error{ErrorCode::kUsage, "baseline " + path + ": it is the run itself, or a copy of it",
                 "give another run of the same deployment that was healthy"};
  }
  HealthyRun healthy;
  healthy.chains = std::make_unique<const Chains>(std::move(*chains));
  healthy.run = learn_run(*healthy.chains, keys, folder_name(path), digest);
  return healthy;
}

void compare_presence(Baseline& baseline, const std::vector<const LearnRun*>& healthy,
                      const LearnRun& own, const KeyTable& keys) {
  TokenRanges here = no_ranges(), there = no_ranges();
  widen(here, own.observations, keys);
  for (const LearnRun* run : healthy) widen(there, run->observations, keys);
  const TokenRanges both = overlap(here, there);
  count_presence(baseline.run, *own.chains, own.observations, keys, both);
  for (const LearnRun* run : healthy) {
    count_presence(baseline.healthy, *run->chains, run->observations, keys, both);
  }
}

// From the run itself.
Learnt learn_own(const LearnRun& own, const KeyTable& keys, const SliceOptions& options) {
  Learnt learnt;
  const std::vector<Lesson> lessons{{&own.observations, own.chains->step_count()}};
  learnt.baseline.models = learn_keys(lessons, keys, options.min_baseline_steps);
  learnt.baseline.mates.resize(keys.size());
  learnt.baseline.first_medians.resize(keys.size());
  learnt.baseline.sides =
      learn_sides({{&own.observations, &own.sides}}, keys.size(), options.min_baseline_steps);
  CollectiveLesson collectives;
  collectives.add(*own.chains);
  learnt.baseline.collectives = collectives.norms(options.min_baseline_steps);
  add_own_first(learnt.baseline, own, keys);
  learnt.provenance = {{"from", "run"}, {"runs", Json::array()}};
  return learnt;
}

Status save(const Baseline& baseline, const std::vector<const LearnRun*>& runs,
            const KeyTable& keys, const SliceOptions& options) {
  if (options.save_baseline.empty()) return {};
  BaselineEntry entry = entry_of(baseline, keys);
  entry.name = options.baseline_name.empty() ? runs.front()->name : options.baseline_name;
  for (const LearnRun* run : runs) entry.runs.push_back(run_json(*run));
  return save_entry(options.save_baseline, entry);
}

Result<Learnt> learn_from_runs(const LearnRun& own, KeyTable& keys, const SliceOptions& options) {
  std::vector<HealthyRun> healthy;
  for (const std::string& path : options.baselines) {
    TELLER_TRY(HealthyRun one, open_healthy(path, own.digest, keys));
    healthy.push_back(std::move(one));
  }
  std::vector<const LearnRun*> runs;
  for (const HealthyRun& one : healthy) runs.push_back(&one.run);
  Learnt learnt;
  learnt.baseline = learn_healthy(runs, keys, options);
  TELLER_CHECK_OK(save(learnt.baseline, runs, keys, options));
  add_own_first(learnt.baseline, own, keys);
  compare_presence(learnt.baseline, runs, own, keys);
  learnt.provenance = {{"from", "baseline"}, {"runs", Json::array()}};
  for (const LearnRun* run : runs) learnt.provenance["runs"].push_back(run_json(*run));
  return learnt;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

Result<Learnt> learn_from_file(const LearnRun& own, KeyTable& keys, const SliceOptions& options) {
  const std::string& path = options.baselines.front();
  TELLER_TRY(const std::vector<BaselineEntry> entries, read_entries(path));
  const Chosen chosen = choose_entry(entries, own.observations, keys);
  const std::string file = fs::path(path).filename().string();
  if (chosen.entry == nullptr || chosen.covers < kLeastCover) {
    Learnt learnt = learn_own(own, keys, options);
    std::string note = "baseline file " + file + ": no entry in it";
    if (chosen.entry != nullptr) {
      note = "baseline file " + file + ": none of its entries fits this run; the best, \"" +
             chosen.entry->name + "\", knows " + percent(chosen.covers) + " of its self time";
    }
    learnt.notes.push_back(note + ": judged as without a baseline");
    return learnt;
  }
  Learnt learnt;
  learnt.baseline = baseline_of(*chosen.entry, keys);
  add_own_first(learnt.baseline, own, keys);
  learnt.provenance = {{"from", "file"},
                       {"file", file},
                       {"entry", chosen.entry->name},
                       {"covers", rounded(chosen.covers)},
                       {"runs", chosen.entry->runs}};
  learnt.notes.push_back("expected values are those of entry \"" + chosen.entry->name +
                         "\" of baseline file " + file + ", which knows " + percent(chosen.covers) +
                         " of this run's self time; with a baseline file, families that are extra "
                         "or missing throughout the run are not listed");
  for (const Json& run : chosen.entry->runs) {
    if (own.digest.empty() || run.value("chains", "") != own.digest) continue;
    learnt.notes.push_back(
        "that entry was learnt from this very run: what is wrong throughout "
        "the run passes for usual");
  }
  return learnt;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

LearnRun learn_run(const Chains& chains, KeyTable& keys, std::string name, std::string digest) {
  LearnRun run{std::move(name), std::move(digest), &chains, observe(chains, keys), {}};
  run.sides = side_values(chains, run.observations);
  return run;
}

std::string digest_of(const RunFolder& run) {
  const Json artifacts = run.manifest().value("artifacts", Json::object());
  const Json chains = artifacts.value("chains", Json::object());
  const Json digest = chains.is_object() ? chains.value("digest", Json()) : Json();
  return digest.is_string() ? digest.get<std::string>() : "";
}

Json run_json(const LearnRun& run) {
  return {{"name", run.name},
          {"chains", run.digest},
          {"steps", run.chains->step_count()},
          {"requests", run.chains->request_count()}};
}

Baseline learn_healthy(const std::vector<const LearnRun*>& runs, const KeyTable& keys,
                       const SliceOptions& options) {
  Baseline baseline;
  baseline.external = true;
  std::vector<Lesson> lessons;
  std::vector<SideLesson> sides;
  CollectiveLesson collectives;
  for (const LearnRun* run : runs) {
    collectives.add(*run->chains);
    lessons.push_back({&run->observations, run->chains->step_count()});
    sides.push_back({&run->observations, &run->sides});
  }
  baseline.models = learn_keys(lessons, keys, options.min_baseline_steps);
  baseline.sides = learn_sides(sides, keys.size(), options.min_baseline_steps);
  baseline.collectives = collectives.norms(options.min_baseline_steps);
  baseline.first_medians.resize(keys.size());
  baseline.mates.resize(keys.size());
  std::vector<std::vector<MateSeries>> series;
  for (const LearnRun* run : runs) {
    series.push_back(compare_mates(run->observations, keys, baseline.duration_fits()));
    collect_first(series.back(), baseline.first_medians);
  }
  baseline.first_effect = first_effect_of(baseline.first_medians);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    remove_first_effect(series[i], baseline.first_effect);
    widen_mates(baseline, series[i], options.min_steps);
    widen(baseline.norm, read_schedule(*runs[i]->chains));
    count_kinds(baseline.kinds, *runs[i]->chains, runs[i]->observations, keys);
    for (const auto& [what, rate] : failure_rates(*runs[i]->chains)) {
      baseline.failures[what] = std::max(baseline.failures[what], rate);
    }
  }
  return baseline;
}

void add_own_first(Baseline& baseline, const LearnRun& own, const KeyTable& keys) {
  FirstMedians all = baseline.first_medians;
  collect_first(compare_mates(own.observations, keys, baseline.duration_fits()), all);
  baseline.first_effect = first_effect_of(all);
}

Result<Learnt> learn(const LearnRun& own, KeyTable& keys, const SliceOptions& options) {
  const auto files = std::count_if(options.baselines.begin(), options.baselines.end(), is_file);
  if (files > 0 && (options.baselines.size() > 1 || !options.save_baseline.empty())) {
    return Error{ErrorCode::kUsage,
                 "slice: a baseline file stands alone: no second --baseline, no --save-baseline",
                 "give run folders, or one baseline file"};
  }
  if (files > 0) return learn_from_file(own, keys, options);
  if (!options.baselines.empty()) return learn_from_runs(own, keys, options);
  if (!options.save_baseline.empty()) {
    TELLER_CHECK_OK(save(learn_healthy({&own}, keys, options), {&own}, keys, options));
  }
  return learn_own(own, keys, options);
}

}  // namespace teller::slice_detail
