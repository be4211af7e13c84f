// Sends and receives of two ranks: which of the one meets which of the other.
#include <algorithm>

#include "horizontal/flight_job.h"

namespace teller::flight {

void index_transfers(Node& node) {
  if (!node.rank) return;
  for (const auto& [group, holes] : node.holes) {
    if (!holes.empty()) return;
  }
  std::map<TransferStream, std::vector<std::size_t>> transfers;
  for (std::size_t i = 0; i < node.operations.size(); ++i) {
    const Operation& one = node.operations[i];
    if (one.entry.record_id != static_cast<std::int64_t>(i) || one.doubtful) return;
    if (one.collective || one.wrapper) continue;
    // It may be with any peer, where the dump does not list the ranks of its group.
    if (one.other < 0) return;
    transfers[{one.group, one.other, one.send}].push_back(i);
  }
  node.transfers = std::move(transfers);
}

OtherEnd other_end(const Job& job, std::size_t node, std::size_t index) {
  const Node& self = job.nodes[node];
  const Operation& operation = self.operations[index];
  const auto found = job.node_of_rank.find(operation.other);
  OtherEnd end;
  if (operation.other < 0 || !self.transfers || found == job.node_of_rank.end()) return end;
  const Node& peer = job.nodes[found->second];
  if (!peer.transfers || !peer.groups.contains(operation.group)) return end;
  const std::vector<std::size_t>& ours =
      self.transfers->at({operation.group, operation.other, operation.send});
  const auto theirs = peer.transfers->find({operation.group, *self.rank, !operation.send});
  end.known = true;
  end.node = found->second;
  end.enqueued = static_cast<std::int64_t>(ours.size());
  end.place = std::lower_bound(ours.begin(), ours.end(), index) - ours.begin();
  if (theirs == peer.transfers->end()) return end;
  end.enqueued_there = static_cast<std::int64_t>(theirs->second.size());
  if (end.place < end.enqueued_there) {
    end.index = theirs->second[static_cast<std::size_t>(end.place)];
  }
  return end;
}

std::optional<std::int64_t> completion_ns(const Node& node, std::size_t index) {
  const Operation& one = node.operations[index];
  const auto own = one.entry.completed_ns;
  return own || one.batch == kNone ? own : node.operations[one.batch].entry.completed_ns;
}

}  // namespace teller::flight
