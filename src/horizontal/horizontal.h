// The stage that compares the ranks of a run: matches their collectives, aligns their clocks, and
// says which rank the others wait for. docs/horizontal.md.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "horizontal/rank_verdict.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

inline constexpr const char* kHorizontalFile = "horizontal.json";
inline constexpr const char* kCollectivesFile = "collectives.jsonl";

struct HorizontalOptions {
  // Healthy runs of the same deployment; files and runs of one rank are passed over.
  std::vector<std::string> baselines;
};

struct HorizontalSummary {
  std::string json;  // horizontal.json
  std::string text;  // the same in a few lines for people
};

// Compares the ranks of a run with current chains: writes horizontal.json and collectives.jsonl,
// and records them as "horizontal" in the manifest. Nothing where the run has fewer than two ranks.
// The same input gives the same bytes.
Result<std::optional<HorizontalSummary>> compare_ranks(RunFolder& run,
                                                       const HorizontalOptions& options);

// Puts what the comparison says into a diagnosis: culprit_ranks, culprit_link, uniform, evidence,
// explanation; and the verdict itself where it names someone in a run that was thought healthy.
// Returns the diagnosis as it is for a run without a comparison.
Result<nlohmann::ordered_json> with_ranks(const RunFolder& run, nlohmann::ordered_json diagnosis);
// Publishes that diagnosis in place of the one that is there.
Status publish_with_ranks(RunFolder& run, const nlohmann::ordered_json& diagnosis);
// The diagnosis of a run without steps, from the comparison alone; publishes it.
Result<nlohmann::ordered_json> diagnose_ranks(RunFolder& run);

}  // namespace teller
