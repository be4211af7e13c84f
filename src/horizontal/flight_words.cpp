#include "horizontal/flight_words.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace teller::flight {

namespace {

constexpr std::size_t kShownNodes = 8;

// Who waits for this rank at first hand in one operation: the one in which most do, of several the
// first.
struct FirstHand {
  std::vector<std::size_t> nodes;
  const Operation* operation = nullptr;
};

FirstHand first_hand(const Job& job, const std::vector<Position>& positions, std::size_t node) {
  using Place = std::tuple<std::size_t, bool, std::int64_t, int>;
  std::map<Place, FirstHand> found;
  for (std::size_t other = 0; other < positions.size(); ++other) {
    for (const Wait& wait : positions[other].waits) {
      if (wait.node != node) continue;
      const Operation& operation = job.nodes[other].operations[positions[other].operation];
      const std::int64_t number =
          operation.collective ? operation.entry.seq : operation.entry.p2p_seq;
      FirstHand& one = found[{operation.group, operation.collective, number, operation.other}];
      if (one.operation == nullptr ||
          operation.entry.created_ns < one.operation->entry.created_ns) {
        one.operation = &operation;
      }
      one.nodes.push_back(other);
    }
  }
  FirstHand best;
  for (auto& [place, one] : found) {
    const bool better = one.nodes.size() > best.nodes.size() ||
                        (one.nodes.size() == best.nodes.size() &&
                         one.operation->entry.created_ns < best.operation->entry.created_ns);
    if (better) best = std::move(one);
  }
  return best;
}

std::string last_words(const Node& node) {
  if (node.operations.empty()) return "its dump holds no operation that is not completed";
  return "it has completed all " + std::to_string(node.operations.size()) +
         " operations that its dump holds";
}

std::string idle_words(const Job& job, const std::vector<Position>& positions, std::size_t node) {
  const Node& self = job.nodes[node];
  const FirstHand waiters = first_hand(job, positions, node);
  if (waiters.operation == nullptr) return node_words(self) + " has nothing open";
  std::string words = node_words(self) + " has not enqueued ";
  const std::string what = operation_words(job, *waiters.operation);
  words += waiters.operation->other >= 0 ? "its part of \"" + what + "\"" : what;
  return words + ", in which " + nodes_words(job, waiters.nodes) +
         (waiters.nodes.size() == 1 ? " waits" : " wait") + "; " + last_words(self);
}

const char* reason_words(WaitReason reason) {
  switch (reason) {
    case WaitReason::kNotEnqueued:
      return " (not enqueued there)";
    case WaitReason::kNoDump:
      return " (no dump)";
    case WaitReason::kBehind:
      return " (enqueued there behind other work)";
    case WaitReason::kNotStarted:
      return " (enqueued there, not started)";
    case WaitReason::kMismatch:
      return " (another call there)";
  }
  return "";
}

std::string waits_words(const Job& job, const std::vector<Position>& positions, std::size_t node) {
  const Position& position = positions[node];
  std::map<WaitReason, std::vector<std::size_t>> others;
  for (const Wait& wait : position.waits) others[wait.reason].push_back(wait.node);
  std::string words;
  for (const auto& [reason, nodes] : others) {
    words += (words.empty() ? "" : " and for ") + nodes_words(job, nodes) + reason_words(reason);
  }
  return node_words(job.nodes[node]) + " waits in " +
         operation_words(job, job.nodes[node].operations[position.operation]) + " for " + words;
}

}  // namespace

std::string nodes_words(const Job& job, const std::vector<std::size_t>& nodes) {
  if (nodes.size() == 1) return node_words(job.nodes[nodes.front()]);
  std::string words;
  bool ranks = true;
  for (const std::size_t node : nodes) ranks = ranks && job.nodes[node].rank.has_value();
  for (std::size_t i = 0; i < std::min(nodes.size(), kShownNodes); ++i) {
    const Node& node = job.nodes[nodes[i]];
    words += (i == 0 ? "" : ", ") + (ranks ? std::to_string(*node.rank) : node_words(node));
  }
  if (nodes.size() > kShownNodes) {
    words += " and " + std::to_string(nodes.size() - kShownNodes) + " more";
  }
  return (ranks ? "ranks " : "") + words;
}

std::string position_words(const Job& job, const std::vector<Position>& positions,
                           std::size_t node) {
  const Position& position = positions[node];
  const Node& self = job.nodes[node];
  const auto operation = [&] { return operation_words(job, self.operations[position.operation]); };
  switch (position.standing) {
    case Standing::kIdle:
      return idle_words(job, positions, node);
    case Standing::kWaits:
      return waits_words(job, positions, node);
    case Standing::kStuckAlone:
      return node_words(self) + " has not completed " + operation() + ", which " +
             nodes_words(job, position.peers) + (position.peers.size() == 1 ? " has" : " have");
    case Standing::kNotStarted:
      return node_words(self) + " has enqueued and not started " + operation() + ", which " +
             nodes_words(job, position.peers) + (position.peers.size() == 1 ? " has" : " have");
    case Standing::kInside:
      return node_words(self) + " is in " + operation() +
             " with all its peers, and none has completed it";
    case Standing::kMismatched:
      return node_words(self) + " called something else than its peers as " + operation() + ": " +
             position.detail;
    case Standing::kNoDump:
      break;
  }
  const FirstHand waiters = first_hand(job, positions, node);
  std::string words = "there is no dump of " + node_words(self);
  if (waiters.operation != nullptr) {
    words += ", for which " + nodes_words(job, waiters.nodes) +
             (waiters.nodes.size() == 1 ? " waits in " : " wait in ") +
             operation_words(job, *waiters.operation);
  }
  return words;
}

std::string explanation_words(const Job& job, const std::vector<Position>& positions,
                              const Blame& blame) {
  if (blame.verdict == "healthy") {
    return "No rank waits for another: every operation in the dumps is completed.";
  }
  if (blame.verdict == "all_in_one_place") {
    return "All ranks with open operations are in the same place, and no rank is missing there: a "
           "dump in the middle of a transfer, or one that does not come through. The dumps alone "
           "do not tell which.";
  }
  std::string words;
  for (std::size_t i = 0; i < std::min<std::size_t>(blame.suspects.size(), 4); ++i) {
    std::string one = position_words(job, positions, blame.suspects[i].node);
    one.front() = static_cast<char>(one.front() == 'r'   ? 'R'
                                    : one.front() == 't' ? 'T'
                                                         : one.front());
    words += one + ". ";
  }
  if (blame.suspects.size() > 4) {
    words += "So it is with " + std::to_string(blame.suspects.size() - 4) + " more ranks. ";
  }
  if (blame.verdict == "deadlock") words += "They wait for each other in a circle. ";
  words += std::to_string(blame.waiting) + " of " + std::to_string(job.nodes.size()) +
           " ranks wait for others, and their waits lead there.";
  return words;
}

std::string check_next_words(const Blame& blame) {
  if (blame.verdict == "rank_absent") {
    return "Look for why that rank wrote no dump: its last log lines, its exit status, dmesg (out "
           "of memory, Xid), its host.";
  }
  if (blame.verdict == "rank_behind") {
    return "Look at what the process of that rank does instead (teller snapshot, py-spy dump): a "
           "lock, the interpreter's lock, data loading, an exception that was swallowed, or a "
           "branch that the other ranks do not take.";
  }
  if (blame.verdict == "rank_stuck" || blame.verdict == "rank_not_started") {
    return "Look at that rank's device: dmesg for Xid, its log for CUDA errors, the kernel that "
           "runs on it (cuda-gdb, nvidia-smi).";
  }
  if (blame.verdict == "mismatch") {
    return "Compare the code paths and tensor sizes of these ranks up to the call named.";
  }
  if (blame.verdict == "deadlock") {
    return "Compare the order in which these ranks enqueue operations of different groups.";
  }
  if (blame.verdict == "stuck_together") {
    return "Look at the devices and the links of these ranks: all of them came, none left.";
  }
  if (blame.verdict == "all_in_one_place") {
    return "Take another dump: if the sequence numbers have not moved, look at the network between "
           "these ranks.";
  }
  return "";
}

}  // namespace teller::flight
