// Expected values per operator key, learnt from healthy runs or from the run itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slice/collectives.h"
#include "slice/mates.h"
#include "slice/observations.h"
#include "slice/presence.h"
#include "slice/robust.h"
#include "slice/run_signs.h"
#include "slice/schedule_signs.h"
#include "slice/side_values.h"
#include "slice/step_kinds.h"

namespace teller::slice_detail {

// Expectations of one key. Unknown (no fit) where the key was seen in too few steps.
struct KeyModel {
  Fit duration;
  Fit self;
};

// How far healthy requests' medians lie from their mates'.
struct MatesNorm {
  double high = 0;    // largest |log ratio|
  double spread = 0;  // MAD spread; 0 where fewer than three requests were compared
};

struct Baseline {
  bool external = false;         // learnt from --baseline runs, else from the run itself
  std::vector<KeyModel> models;  // by key id; ids not learnt from are there too
  Presence run, healthy;         // in steps with as many tokens as both know; empty if not external
  ScheduleNorm norm;             // known only where external
  std::vector<MatesNorm> mates;  // by key id; all 0 where not external
  FirstMedians first_medians;    // by key id; of the healthy runs alone
  FirstEffect first_effect;      // by key id; of all runs at hand
  std::vector<SideModel> sides;  // by key id
  KindPresence kinds;            // empty if not external
  FailureRates failures;         // likewise
  CollectiveNorms collectives;   // by family

  std::vector<Fit> duration_fits() const;
  std::vector<Fit> self_fits() const;
};

// A run to learn from.
struct Lesson {
  const std::vector<Observation>* observations;
  std::size_t steps;
};

// Learns key models from all `runs` together. A key needs `least_steps` steps. Each step's pace is
// taken off before the fits are made a second time.
std::vector<KeyModel> learn_keys(const std::vector<Lesson>& runs, const KeyTable& keys,
                                 std::uint32_t least_steps);

// Takes one healthy run's mates into account.
void widen_mates(Baseline& baseline, const std::vector<MateSeries>& series,
                 std::uint32_t least_steps);

}  // namespace teller::slice_detail
