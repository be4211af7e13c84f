// Whether dumps in which nobody waits show a job that is well, or show nothing.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "horizontal/flight_blame.h"

namespace teller::flight {

namespace {

bool is_completed(const Operation& operation) {
  return operation.completed && !operation.doubtful;
}

// The rank's last operation of one sort cannot be relied on: whether it is open is not known. What
// lies before a completed one of its sort was completed too.
bool ends_in_doubt(const Node& node) {
  std::map<std::tuple<std::size_t, int, bool>, bool> doubtful;
  std::int64_t last_record = -1;
  for (const Operation& one : node.operations) {
    last_record = std::max(last_record, one.entry.record_id);
    if (!one.wrapper) doubtful[{one.group, one.other, one.send}] = one.doubtful;
  }
  if (std::any_of(doubtful.begin(), doubtful.end(), [](const auto& one) { return one.second; })) {
    return true;
  }
  const auto holes = node.holes.find(kNone);
  return holes != node.holes.end() &&
         std::any_of(holes->second.begin(), holes->second.end(), [&](std::int64_t record) {
           return record < 0 || last_record < 0 || record > last_record;
         });
}

std::string status_words(const Node& node, const std::string& group, const Progress& status,
                         bool has_transfers) {
  const std::string completed = std::to_string(std::max<std::int64_t>(status.completed, 0));
  const std::string words = "By the status of its groups " + node_words(node) + " has enqueued ";
  if (has_transfers) {
    return words + "number " + std::to_string(status.enqueued) + " of group " + group +
           " last and completed number " + completed + " last, and no entry tells of the group.";
  }
  return words + std::to_string(status.enqueued) + " collectives of group " + group +
         " and completed " + completed + ", and no entry tells of those between.";
}

// Work that is outstanding by the status of a group of which the dump has no entry. Where it has
// some, they are newer than the status, which a thread brings up to date now and then.
std::string outstanding_words(const Job& job, const Node& node) {
  std::set<std::size_t> told;
  for (const Operation& one : node.operations) told.insert(one.group);
  for (const auto& [group, status] : node.status) {
    // Of a group with transfers the last work enqueued is the last completed where nothing is open;
    // which number is higher says nothing.
    const bool open = job.groups[group].has_p2p ? status.enqueued != status.completed
                                                : status.enqueued > status.completed;
    if (!open || status.enqueued <= 0 || told.contains(group)) continue;
    return status_words(node, job.groups[group].name, status, job.groups[group].has_p2p);
  }
  if (!node.operations.empty()) return "";
  for (const auto& [id, status] : node.progress_unnamed) {
    if (status.enqueued <= status.completed || status.enqueued <= 0) continue;
    return status_words(node, "with id " + std::to_string(id), status, false);
  }
  return "";
}

// Something that was completed: an operation, or by the status where there is no entry at all.
bool has_completed(const Job& job, const Node& node) {
  if (std::any_of(node.operations.begin(), node.operations.end(), is_completed)) return true;
  if (job.entries + job.entries_unread > 0) return false;
  return std::any_of(node.progress.begin(), node.progress.end(),
                     [](const auto& one) { return one.second.completed > 0; });
}

}  // namespace

std::string why_not_healthy(const Job& job) {
  std::size_t in_doubt = 0;
  bool completed = false;
  for (const Node& node : job.nodes) {
    std::string outstanding = outstanding_words(job, node);
    if (!outstanding.empty()) return outstanding;
    if (ends_in_doubt(node)) ++in_doubt;
    completed = completed || has_completed(job, node);
  }
  if (!completed) {
    return job.entries + job.entries_unread == 0
               ? "The dumps hold no operation: there is nothing to judge."
               : "The dumps hold no operation that can be relied on and is completed.";
  }
  if (in_doubt == 0) return "";
  return "The last entries of " + std::to_string(in_doubt) + (in_doubt == 1 ? " dump" : " dumps") +
         " contradict themselves or cannot be read: whether they are open is not known.";
}

}  // namespace teller::flight
