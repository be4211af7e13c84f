// Everything that the comparison of ranks finds of a run. Private to horizontal/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "horizontal/clocks.h"
#include "horizontal/doing.h"
#include "horizontal/lateness.h"
#include "horizontal/match.h"
#include "horizontal/measure.h"
#include "horizontal/operations.h"
#include "horizontal/rank_verdict.h"
#include "run_folder/chains.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller::horizontal_detail {

// What is typical of a run's steps on all its ranks: what a later run is compared with.
struct Pace {
  std::size_t units = 0;
  double step_ns = 0;          // median length of a step
  std::vector<double> own_ns;  // per rank: median time outside collectives in a step
  double transfer_ns = 0;      // median transfer of a collective
};

struct Comparison {
  Operations operations;
  Matching matching;
  Clocks clocks;
  std::vector<Measure> measures;  // as matching.collectives
  Lateness lateness;
  Pace pace;
  RankVerdict verdict;
  Doing culprit_doing = Doing::kUnknown;  // of the first culprit
};

// Finds all of it but the verdict.
Result<Comparison> compare(const RunFolder& run, const Chains& chains);
Pace find_pace(const Comparison& found);

// verdict.cpp: whether ranks stand out. `healthy`: what is usual, from runs without a fault; may be
// null.
void judge(const Chains& chains, const Pace* healthy, Comparison& found);
// judge_links.cpp: the pair whose transfers are slow though both come in time.
std::optional<CulpritLink> slow_link(const Comparison& found);
// judge_absent.cpp: ranks that did not come to a collective that others still wait in, or call
// another one.
std::vector<CulpritRank> absent_ranks(const Comparison& found);
// Ranks of its group that are missing in a collective: they were recorded well beyond the point
// where the others had come, so that their recording has not merely ended before.
std::vector<std::uint32_t> missing_ranks(const Comparison& found, std::size_t at);
// judge_pace.cpp: whether all ranks are slow alike, against healthy runs or the run's own begin;
// adds why to `evidence`. Nothing where there is no such thing to compare with, or no difference.
std::optional<bool> uniform_slowness(const Comparison& found, const Pace* healthy,
                                     std::vector<std::string>& evidence);

// "61.2 ms".
std::string time_text(double ns);
std::string percent_text(double share);

}  // namespace teller::horizontal_detail
