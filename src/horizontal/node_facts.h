// Fields of the events behind collective nodes, which chains do not hold. Private to horizontal/.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "horizontal/facts.h"
#include "run_folder/chains.h"
#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller::horizontal_detail {

// What the event of a node says, and its own end: chains clip what does not nest, as the ranges of
// asynchronous operations, which outlast the call that began them.
struct NodeFacts {
  CollectiveFacts facts;
  std::int64_t end_ns = 0;
};

// Facts of the nodes flagged as collectives, by node. Memory is bounded by their number. A node
// whose event can't be found again has its name's facts.
Result<std::unordered_map<std::uint32_t, NodeFacts>> read_node_facts(const RunFolder& run,
                                                                     const Chains& chains);

}  // namespace teller::horizontal_detail
