// The collectives of each rank, as its chains and events show them. Private to horizontal/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "horizontal/source_ranks.h"
#include "run_folder/chains.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller::horizontal_detail {

// One collective on one rank. Times are nanoseconds on the run's clock, before ranks are aligned.
struct Operation {
  std::uint32_t node = kNoIndex;  // the kernel, or the host range that stands for it
  std::uint32_t call = kNoIndex;  // the outermost host range; kNoIndex where there is none
  std::uint32_t operation = 0;    // Operations::texts
  std::uint32_t wire = 0;         // what its kernel is called after: all-to-all runs as send_recv
  std::uint32_t group = 0;        // Operations::texts: name and ranks of the process group
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;
  bool size_is_sure = false;  // what goes in and what comes out are both known
  std::int64_t begin_ns = 0;  // the rank has come
  std::int64_t end_ns = 0;
  std::int32_t from = -1, to = -1;  // of a point-to-point operation
  bool device = false;
  bool open = false;  // it never ended

  // Both ends of a transfer between two ranks are known.
  bool has_peers() const { return from >= 0 && to >= 0; }
};

// A rank of the run: one or more sources that say this rank.
struct RankOperations {
  std::int32_t rank = 0;
  bool numbered = true;   // false: its number is not known, `rank` is a stand-in
  std::string rank_from;  // "stated", or what else told it
  std::string name;       // "rank 3"; of one without a number its file and process
  std::string host;       // "" unknown, or not one
  std::vector<std::uint16_t> sources;
  std::vector<Operation> list;  // by begin
  std::int64_t first_ns = 0;    // first and last sign of life
  std::int64_t last_ns = 0;
  bool has_events = false;
};

struct Operations {
  std::vector<RankOperations> ranks;  // by rank; those without a collective too
  Interner texts;
  std::vector<std::vector<int>>
      group_ranks;                   // by text of a group: its ranks, empty where not known
  std::vector<SharedRank> shared;    // sources that state one rank, and are several
  std::uint64_t without_rank = 0;    // collectives of sources that state no rank
  std::uint64_t without_kernel = 0;  // calls whose kernel or range is not in the trace
  std::uint64_t waits = 0;           // calls that only wait for or prepare a collective

  std::size_t count() const;
};

// Collectives of all sources with a rank. A rank's collective is its kernel where it has one, else
// the range that the backend keeps open until it is over.
Result<Operations> find_operations(const RunFolder& run, const Chains& chains);

}  // namespace teller::horizontal_detail
