// Ranks that enqueued collectives in another order than their peers.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "horizontal/flight_blame.h"

namespace teller::flight {

namespace {

using Place = std::pair<std::size_t, std::int64_t>;  // group, sequence number

// Pairs of so many collectives are looked at: a circle of waits has few.
constexpr std::size_t kMostPlaces = 64;
// Calls of a rank before the one that is looked at.
constexpr std::size_t kHistory = 2048;
// So many calls before it are compared; fewer where they had not been made before.
constexpr std::size_t kContext = 3;

// Where a rank enqueued a collective among its operations; beyond all where it did not.
std::size_t turn_of(const Node& node, const Place& place) {
  const auto found = node.collectives.find(place);
  return found == node.collectives.end() ? kNone : found->second;
}

// The ranks that are in both groups, and have come to one of both, by what they enqueued first.
struct Orders {
  std::vector<std::size_t> one_first, other_first;
};

Orders orders_of(const Job& job, const Place& one, const Place& other) {
  Orders orders;
  const std::vector<std::size_t>& there = job.groups[other.first].present;
  const std::set<std::size_t> in_other(there.begin(), there.end());
  for (const std::size_t member : job.groups[one.first].present) {
    if (!in_other.contains(member)) continue;
    const std::size_t a = turn_of(job.nodes[member], one);
    const std::size_t b = turn_of(job.nodes[member], other);
    if (a < b) orders.one_first.push_back(member);
    if (b < a) orders.other_first.push_back(member);
  }
  return orders;
}

// A call as a program makes it again in each step.
std::string call_text(const Operation& operation) {
  return std::to_string(operation.group) + " " + flight_operation(operation.entry.name) + " " +
         std::to_string(operation.other) + (operation.send ? " send" : "");
}

enum class Habit { kUnknown, kKept, kBroken };

// Whether what a rank called at `index` had followed the `context` calls before it earlier; unknown
// where they had not been made before.
Habit habit_of(const std::vector<std::string>& calls, std::size_t index, std::size_t context) {
  if (index < context) return Habit::kUnknown;
  const auto before = calls.begin() + static_cast<std::ptrdiff_t>(index - context);
  const auto here = calls.begin() + static_cast<std::ptrdiff_t>(index);
  Habit habit = Habit::kUnknown;
  for (std::size_t i = context; i < index; ++i) {
    const auto other = calls.begin() + static_cast<std::ptrdiff_t>(i);
    if (!std::equal(before, here, other - static_cast<std::ptrdiff_t>(context))) continue;
    if (*other == *here) return Habit::kKept;
    habit = Habit::kBroken;
  }
  return habit;
}

}  // namespace

std::vector<std::size_t> against_habit(const Job& job, const std::vector<Position>& positions,
                                       const std::vector<std::size_t>& nodes) {
  std::vector<std::size_t> odd;
  for (const std::size_t node : nodes) {
    const std::size_t index = positions[node].operation;
    if (index == kNone) continue;
    const std::vector<Operation>& operations = job.nodes[node].operations;
    std::vector<std::string> calls;
    const std::size_t first = index > kHistory ? index - kHistory : 0;
    for (std::size_t i = first; i <= index; ++i) calls.push_back(call_text(operations[i]));
    Habit habit = Habit::kUnknown;
    for (std::size_t context = kContext; context > 0 && habit == Habit::kUnknown; --context) {
      habit = habit_of(calls, calls.size() - 1, context);
    }
    if (habit == Habit::kBroken) odd.push_back(node);
  }
  return odd;
}

std::vector<std::size_t> out_of_order(const Job& job, const std::vector<Position>& positions,
                                      const std::vector<std::size_t>& circle) {
  std::set<Place> seen;
  for (const std::size_t node : circle) {
    const std::size_t index = positions[node].operation;
    if (index == kNone || seen.size() == kMostPlaces) continue;
    const Operation& operation = job.nodes[node].operations[index];
    if (operation.collective) seen.insert({operation.group, operation.entry.seq});
  }
  const std::vector<Place> places(seen.begin(), seen.end());
  std::set<std::size_t> odd;
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t k = i + 1; k < places.size(); ++k) {
      const Orders orders = orders_of(job, places[i], places[k]);
      const std::size_t a = orders.one_first.size(), b = orders.other_first.size();
      if (a == b || a == 0 || b == 0) continue;
      const auto& few = a < b ? orders.one_first : orders.other_first;
      odd.insert(few.begin(), few.end());
    }
  }
  return {odd.begin(), odd.end()};
}

}  // namespace teller::flight
