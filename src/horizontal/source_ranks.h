// Which rank each source of a run is, where what the sources state of themselves does not tell.
// Private to horizontal/.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "horizontal/node_facts.h"
#include "run_folder/chains.h"

namespace teller::horizontal_detail {

// Sources with collectives that all state one rank, or none, though they are different processes.
struct SharedRank {
  std::int32_t stated = -1;            // what they state; -1 nothing
  std::vector<std::uint16_t> sources;  // ascending
  bool apart = false;                  // they are told apart, and compared
  std::string by;  // what tells them apart, or their numbers: "process groups", "device numbers",
                   // "processes"; "" nothing
};

struct SourceRank {
  std::int32_t rank = -1;  // -1: of no rank that is compared
  bool numbered = true;    // false: a process of its own, `rank` is a stand-in beyond all ranks
  std::string from;        // "stated", or as SharedRank::by
};

struct SourceRanks {
  std::vector<SourceRank> of;  // by source
  std::vector<SharedRank> shared;
};

// Stand-ins for ranks whose numbers are not known begin here.
inline constexpr std::int32_t kFirstStandIn = 100'000'000;

// People trace without setting RANK, and every trace says 0: then the process groups of the
// collectives, or the devices, tell the number; else sources are told apart as processes, without
// one, or not at all. Near-linear in the collectives.
SourceRanks find_source_ranks(const Chains& chains,
                              const std::unordered_map<std::uint32_t, NodeFacts>& facts);

}  // namespace teller::horizontal_detail
