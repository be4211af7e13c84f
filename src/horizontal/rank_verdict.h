// What the comparison of ranks says of a run: the keys culprit_ranks, culprit_link and uniform of a
// diagnosis.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace teller {

// One rank that others waited for.
struct CulpritRank {
  int rank = 0;
  bool numbered = true;  // false: which rank it is, is not known; `why` names its file
  double score = 0;      // in [0, 1]; the sum over all culprits is at most 1
  std::string why;       // in words, with the figures that it rests on
};

// A pair of ranks between which data flow slowly.
struct CulpritLink {
  int from = 0;
  int to = 0;
  std::string why;
};

struct RankVerdict {
  std::vector<CulpritRank> culprits;  // most likely first; empty where no rank stands out
  std::optional<CulpritLink> link;
  // Whether all ranks are slow alike; nothing where the run is healthy, or it cannot be told.
  std::optional<bool> uniform;
  std::vector<std::string> evidence;  // lines for people
  bool unclear = false;               // ranks could not be told apart: they were not compared
  bool too_few = false;               // too few collectives in common to say that nobody is late
};

}  // namespace teller
