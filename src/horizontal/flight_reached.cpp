// How far a rank has come, and what it is called.
#include <algorithm>

#include "horizontal/flight_job.h"

namespace teller::flight {

namespace {

// Whether entries that cannot be read may be the collectives of a group between the last one that
// is known and `seq`.
bool may_be_unread(const Node& node, std::size_t group, std::int64_t seq) {
  const auto known = node.last_seq.find(group);
  const Node::Last last = known == node.last_seq.end() ? Node::Last() : known->second;
  std::int64_t later = 0;
  for (const std::size_t where : {group, kNone}) {
    const auto holes = node.holes.find(where);
    if (holes == node.holes.end()) continue;
    for (const std::int64_t record : holes->second) {
      if (record < 0 || last.record_id < 0 || record > last.record_id) ++later;
    }
  }
  // Of a group without any entry it is not known where its numbers stand.
  return later > 0 && (last.seq < 0 || later >= seq - last.seq);
}

// Whether the rank has enqueued a collective of which its dump has no entry: it was completed and
// overwritten, or left out of a dump of what is active, or it never was.
Reached reached_without_entry(const Node& node, std::size_t group, std::int64_t seq) {
  const auto progress = node.progress.find(group);
  if (progress != node.progress.end()) {
    if (progress->second.completed >= seq) return Reached::kCompleted;
    // One that is open, and whose entry newer ones have overwritten, is there.
    if (progress->second.enqueued >= 0) {
      return progress->second.enqueued < seq ? Reached::kNotEnqueued : Reached::kThere;
    }
  }
  // Entries of sends and receives tell how many collectives came before them.
  const auto last = node.last_seq.find(group);
  if (last != node.last_seq.end() && last->second.seq >= seq) return Reached::kCompleted;
  // What is completed, and open elsewhere, it cannot be; it may be one whose entry newer ones have
  // overwritten.
  const bool perhaps = progress != node.progress.end() &&
                       progress->second.perhaps_enqueued >= seq && last == node.last_seq.end() &&
                       std::any_of(node.operations.begin(), node.operations.end(),
                                   [](const Operation& one) { return one.completed; });
  if (perhaps) return Reached::kUnclear;
  return may_be_unread(node, group, seq) ? Reached::kUnclear : Reached::kNotEnqueued;
}

}  // namespace

Reached reached(const Job& job, std::size_t index, std::size_t group, std::int64_t seq) {
  const Node& node = job.nodes[index];
  if (!node.has_dump) return Reached::kUnknownRank;
  const auto found = node.collectives.find({group, seq});
  Reached far = Reached::kUnclear;
  if (found == node.collectives.end()) {
    far = reached_without_entry(node, group, seq);
  } else if (!node.operations[found->second].doubtful) {
    const bool completed = node.operations[found->second].completed;
    far = completed                        ? Reached::kCompleted
          : node.place[found->second] == 0 ? Reached::kThere
                                           : Reached::kBehind;
  }
  // What it has not done when its dump was written it may have done since.
  const bool later = far == Reached::kNotEnqueued || far == Reached::kBehind;
  return later && node.is_outdated() ? Reached::kUnclear : far;
}

std::string node_words(const Node& node) {
  if (node.rank) return "rank " + std::to_string(*node.rank);
  return node.has_dump ? "the rank of " + node.source : "a rank that is not known";
}

std::string operation_words(const Job& job, const Operation& operation) {
  const Group& group = job.groups[operation.group];
  std::string words = flight_operation(operation.entry.name);
  if (operation.other >= 0) {
    words += (operation.send ? " to rank " : " from rank ") + std::to_string(operation.other);
  }
  const std::int64_t number = operation.collective ? operation.entry.seq : operation.entry.p2p_seq;
  words += ", number " + std::to_string(number) + " of group " + group.name;
  return group.description.empty() ? words : words + " " + group.description;
}

}  // namespace teller::flight
