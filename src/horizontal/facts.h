// What a trace says of a collective besides its time: operation, process group, sequence, size.
// Private to horizontal/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace teller::horizontal_detail {

struct CollectiveFacts {
  std::string operation;       // "all_reduce", …; "" unknown, "wait" and the like: no transfer
  std::string group;           // the process group's name; "" unknown
  std::string ranks_text;      // its ranks as they are written; "" unknown
  std::vector<int> ranks;      // the same; empty where they are not all written
  std::int64_t sequence = -1;  // number of the operation in its group; -1 unknown
  std::int64_t bytes = -1;     // the larger of what goes in and comes out on a rank; -1 unknown
  bool both_sizes = false;     // `bytes` rests on what goes in and what comes out
  int from = -1;               // ranks of a point-to-point operation; -1 unknown
  int to = -1;

  // Takes over what is unknown here.
  void fill_from(const CollectiveFacts& other);
};

// The operation that a name tells, whoever names it: "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
// "nccl:all_reduce", "_allgather_base" and "c10d::allreduce_" give "all_reduce" and "all_gather".
// Others are returned as they are, shortened.
std::string operation_of(std::string_view name);
// Whether it is one of those known; else it only waits for or prepares collectives.
bool is_transfer(std::string_view operation);
// Operations in which no rank can end before all have come.
bool is_synchronising(std::string_view operation);
// Operations of one rank with one other, which no other rank takes part in.
bool is_point_to_point(std::string_view operation);
// Operations of which each rank may have a size of its own.
bool has_many_sizes(std::string_view operation);
// Operations whose size is the same on all ranks.
bool has_one_size(std::string_view operation);
// Bytes on the wire per rank over the operation's size (nccl-tests' "bus bandwidth"); 0 unknown.
double bus_factor(std::string_view operation, std::size_t ranks);

// Facts in an event's further fields (`attrs`, JSON from anyone), of an event of this name.
CollectiveFacts read_facts(std::string_view name, std::string_view attrs);

}  // namespace teller::horizontal_detail
