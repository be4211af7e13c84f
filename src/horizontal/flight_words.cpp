#include "horizontal/flight_words.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace teller::flight {

namespace {

constexpr std::size_t kShownNodes = 8;

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

// Who waits for a rank at first hand in one operation: the one in which most do, of several the
// first.
struct FirstHand {
  std::vector<std::size_t> nodes;
  const Operation* operation = nullptr;
};

std::string outdated_words(const Job& job, std::size_t node);

class Writer {
 public:
  Writer(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph)
      : job_(job), positions_(positions), graph_(graph) {}

  std::string write(std::size_t node) {
    const Position& position = positions_[node];
    std::string words = plain(node);
    if (!position.unclear->empty()) {
      words += "; whether " + nodes_words(job_, *position.unclear) +
               " came cannot be told: " + why_unclear(node);
    }
    return words;
  }

 private:
  std::string plain(std::size_t node) {
    const Position& position = positions_[node];
    const Node& self = job_.nodes[node];
    switch (position.standing) {
      case Standing::kIdle:
        return idle_words(node);
      case Standing::kWaits:
        return node_words(self) + " waits in " + at(node) + " for " + awaited_words(position);
      case Standing::kStuckAlone:
        return node_words(self) + " has not completed " + at(node) + ", which " +
               have_words(*position.peers);
      case Standing::kNotStarted:
        return node_words(self) + " has enqueued and not started " + at(node) + ", which " +
               have_words(*position.peers);
      case Standing::kInside:
        return node_words(self) + " is in " + at(node) + " with all its peers" +
               (position.unclear->empty() ? "" : " of which it is known") +
               ", and none has completed it";
      case Standing::kMismatched:
        return node_words(self) + " called something else than its peers as " + at(node) + ": " +
               position.detail;
      case Standing::kOutdated:
        return outdated_words(job_, node);
      case Standing::kNoDump:
        break;
    }
    return absent_words(node);
  }

  // Why it is not known whether peers of a rank came; each reason once.
  std::string why_unclear(std::size_t node) const {
    std::set<std::string_view> reasons;
    for (const std::size_t one : *positions_[node].unclear) reasons.insert(why_unclear(node, one));
    std::string words;
    for (const std::string_view reason : reasons) {
      words += (words.empty() ? "" : ", or ") + std::string(reason);
    }
    return words;
  }

  std::string_view why_unclear(std::size_t node, std::size_t peer) const {
    const Node& other = job_.nodes[peer];
    const Operation& operation = job_.nodes[node].operations[positions_[node].operation];
    const Group& group = job_.groups[operation.group];
    if (other.is_outdated()) return "the dump is of an earlier moment";
    // Members of a group that no dump lists stand in order.
    const bool is_member = !group.ranks.empty() ||
                           std::binary_search(group.members.begin(), group.members.end(), peer);
    if (!is_member) return "nothing is open there, and no dump lists the ranks of the group";
    if (other.pending.empty() ||
        !tells_nothing(job_, other, other.operations[other.pending.front()])) {
      return "entries there contradict themselves or cannot be read";
    }
    return "what is open there before it does not tell who takes part";
  }

  std::string at(std::size_t node) const {
    return operation_words(job_, job_.nodes[node].operations[positions_[node].operation]);
  }

  std::string have_words(const std::vector<std::size_t>& nodes) const {
    return nodes_words(job_, nodes) + (nodes.size() == 1 ? " has" : " have");
  }

  const std::string& awaited_words(const Position& position) {
    const auto [known, is_new] = awaited_.try_emplace(position.waits.get());
    if (!is_new) return known->second;
    std::map<WaitReason, std::vector<std::size_t>> others;
    for (const Wait& wait : *position.waits) others[wait.reason].push_back(wait.node);
    for (const auto& [reason, nodes] : others) {
      known->second += (known->second.empty() ? "" : " and for ") + nodes_words(job_, nodes) +
                       reason_words(reason);
    }
    return known->second;
  }

  const FirstHand& first_hand(std::size_t node) {
    const auto [known, is_new] = first_hand_.try_emplace(graph_.lists_with(node));
    if (is_new) known->second = find_first_hand(graph_.lists_with(node));
    return known->second;
  }

  FirstHand find_first_hand(const std::vector<std::size_t>& lists) const {
    using Place = std::tuple<std::size_t, bool, std::int64_t, int>;
    std::map<Place, FirstHand> found;
    for (const std::size_t list : lists) {
      for (const std::size_t other : graph_.backward[list]) {
        const Operation& operation = job_.nodes[other].operations[positions_[other].operation];
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
    std::sort(best.nodes.begin(), best.nodes.end());
    return best;
  }

  // The waiters of a node in one operation; first_hand() does not ask who asks.
  std::string waiters_words(const FirstHand& waiters) const {
    return nodes_words(job_, waiters.nodes) + (waiters.nodes.size() == 1 ? " waits" : " wait");
  }

  std::string last_words(const Node& node) const {
    std::size_t doubtful = 0;
    for (const Operation& one : node.operations) doubtful += one.doubtful ? 1 : 0;
    const std::size_t whole = node.operations.size() - doubtful;
    std::string words = "its dump holds no operation that is not completed";
    if (whole > 0) {
      words = "it has completed all " + std::to_string(whole) + " operations that its dump holds";
    }
    if (doubtful == 0) return words;
    return words + (whole > 0 ? ", but for " : ", but ") + std::to_string(doubtful) +
           " whose entries contradict themselves";
  }

  std::string idle_words(std::size_t node) {
    const Node& self = job_.nodes[node];
    const FirstHand& waiters = first_hand(node);
    if (waiters.operation == nullptr) return node_words(self) + " has nothing open";
    std::string words = node_words(self) + " has not enqueued ";
    const std::string what = operation_words(job_, *waiters.operation);
    words += waiters.operation->other >= 0 ? "its part of \"" + what + "\"" : what;
    return words + ", in which " + waiters_words(waiters) + "; " + last_words(self);
  }

  std::string absent_words(std::size_t node) {
    const Node& self = job_.nodes[node];
    const FirstHand& waiters = first_hand(node);
    std::string words;
    if (self.rank) {
      words = "there is no dump from " + node_words(self);
    } else {
      words = "of " + std::to_string(job_.absent_unnamed) +
              (job_.absent_unnamed == 1 ? " rank" : " ranks") +
              " there is no dump, and the dumps do not say of which";
    }
    if (waiters.operation == nullptr) return words;
    return words + ", for which " + waiters_words(waiters) + " in " +
           operation_words(job_, *waiters.operation);
  }

  const Job& job_;
  const std::vector<Position>& positions_;
  const WaitGraph& graph_;
  std::map<const std::vector<Wait>*, std::string> awaited_;
  std::map<std::vector<std::size_t>, FirstHand> first_hand_;
};

std::string outdated_words(const Job& job, std::size_t node) {
  const Node& self = job.nodes[node];
  const Outdated& outdated = self.outdated;
  const std::string peer = node_words(job.nodes[outdated.by]);
  const std::string group = " of group " + job.groups[outdated.group].name;
  const std::string words = "the dump of " + node_words(self) + " is of an earlier moment: it ";
  if (outdated.transfer) {
    return words + "holds " + std::to_string(outdated.enqueued) + " sends to " + peer + group +
           ", which has received " + std::to_string(outdated.seq);
  }
  return words + "goes to number " + std::to_string(outdated.enqueued) + group + ", and " + peer +
         " has completed number " + std::to_string(outdated.seq) + ", which takes all of the group";
}

std::string outdated_dumps_words(const Job& job) {
  std::vector<std::size_t> outdated;
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    if (job.nodes[i].is_outdated()) outdated.push_back(i);
  }
  if (outdated.empty()) return "";
  const bool one = outdated.size() == 1;
  return " " + std::to_string(outdated.size()) + (one ? " dump was" : " dumps were") +
         " written before peers went on, and what " + (one ? "it lacks" : "they lack") +
         " says nothing: " + outdated_words(job, outdated.front()) + ".";
}

// What the dumps lack, after the finding; "" where they lack nothing.
std::string lacking_words(const Job& job, const Blame& blame) {
  std::string words;
  const std::size_t absent = job.ranks_without_dump.size();
  if (absent > 0 && blame.suspects.empty()) {
    words += " There is no dump of " + std::to_string(absent) + " of the " +
             std::to_string(job.nodes.size()) +
             " ranks that the groups list, so that nothing is known of them: the first is rank " +
             std::to_string(job.ranks_without_dump.front()) + ".";
  }
  if (job.entries_contradictory > 0) {
    words += " " + std::to_string(job.entries_contradictory) +
             " entries contradict themselves or have fields that can't be read; nobody is blamed "
             "for what they say. The first is " +
             job.first_contradictory + ".";
  }
  words += outdated_dumps_words(job);
  if (job.entries_unread > 0) {
    words += " " + std::to_string(job.entries_unread) + " entries can't be read at all.";
  }
  return words;
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

RankWords::RankWords(const Job& job, const std::vector<Position>& positions,
                     const WaitGraph& graph) {
  const auto writer = std::make_shared<Writer>(job, positions, graph);
  write_ = [writer](std::size_t node) { return writer->write(node); };
}

std::string explanation_words(const Job& job, const RankWords& words, const Blame& blame) {
  const std::string lacking = lacking_words(job, blame);
  if (blame.verdict == "healthy") {
    return "No rank waits for another: every operation in the dumps is completed." + lacking;
  }
  if (blame.verdict == "all_in_one_place") {
    return "All ranks with open operations are in the same place, and no rank is missing there: a "
           "dump in the middle of a transfer, or one that does not come through. The dumps alone "
           "do not tell which." +
           lacking;
  }
  if (!blame.lacking_words.empty()) {
    return "No rank is seen to wait for another, which does not make the job healthy. " +
           blame.lacking_words + lacking;
  }
  if (blame.verdict == "unclear") {
    return "Ranks are in operations that are not completed, and whether all their peers came "
           "cannot be told: dumps are of an earlier moment, entries contradict themselves or "
           "cannot be read, or no dump lists the ranks of a group. Nobody is blamed on their "
           "word alone." +
           lacking;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(blame.suspects.size(), 4); ++i) {
    std::string one = words.of(blame.suspects[i].node);
    if (one.front() >= 'a' && one.front() <= 'z') one.front() = static_cast<char>(one.front() - 32);
    text += one + ". ";
  }
  if (blame.suspects.size() > 4) {
    text += "So it is with " + std::to_string(blame.suspects.size() - 4) + " more ranks. ";
  }
  if (blame.verdict == "deadlock") {
    text += blame.circle_words.empty() ? "They wait for each other in a circle. "
                                       : "Ranks wait for each other in a circle. ";
    if (!blame.circle_words.empty()) text += blame.circle_words + " ";
  }
  if (blame.waiting == 0) {
    text += "No rank waits for it.";
  } else {
    text += std::to_string(blame.waiting) + " of " + std::to_string(job.nodes.size()) +
            " ranks wait for others, and their waits lead there.";
  }
  if (blame.may_be_earlier) {
    text +=
        " It looks the same where this dump was written a moment before the others, in a job that "
        "goes on.";
  }
  return text + lacking;
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
  if (blame.may_be_earlier) {
    return "Take the dumps again: if that rank has not moved, look at its device (dmesg for Xid, "
           "its "
           "log for CUDA errors, the kernel that runs on it).";
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
  if (blame.verdict == "unclear") {
    return "Get dumps of these ranks as PyTorch wrote them, all of one moment, or look at their "
           "processes (teller snapshot, py-spy dump).";
  }
  if (blame.verdict == "all_in_one_place") {
    return "Take another dump: if the sequence numbers have not moved, look at the network between "
           "these ranks.";
  }
  return "";
}

}  // namespace teller::flight
