// Strongly connected components of the graph of waits, without recursion: chains of waits are as
// long as a job has ranks.
#include "horizontal/flight_blame.h"

namespace teller::flight {

namespace {

using Graph = std::vector<std::vector<std::size_t>>;

// Appends to `order` what can be reached from `start` and was not seen, each after all that it
// leads to.
void walk(const Graph& graph, std::size_t start, std::vector<bool>& seen,
          std::vector<std::size_t>& order) {
  if (seen[start]) return;
  std::vector<std::pair<std::size_t, std::size_t>> path{{start, 0}};  // node, its next edge
  seen[start] = true;
  while (!path.empty()) {
    auto& [node, edge] = path.back();
    if (edge == graph[node].size()) {
      order.push_back(node);
      path.pop_back();
      continue;
    }
    const std::size_t next = graph[node][edge++];
    if (seen[next]) continue;
    seen[next] = true;
    path.emplace_back(next, 0);
  }
}

}  // namespace

std::vector<std::size_t> find_circles(const std::vector<Position>& positions) {
  const std::size_t count = positions.size();
  Graph forward(count);
  Graph backward(count);
  for (std::size_t node = 0; node < count; ++node) {
    for (const Wait& wait : positions[node].waits) {
      forward[node].push_back(wait.node);
      backward[wait.node].push_back(node);
    }
  }
  std::vector<bool> seen(count, false);
  std::vector<std::size_t> order;
  for (std::size_t node = 0; node < count; ++node) walk(forward, node, seen, order);
  std::vector<std::size_t> circle(count, 0);
  seen.assign(count, false);
  std::size_t number = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (seen[order[i]]) continue;
    std::vector<std::size_t> members;
    walk(backward, order[i], seen, members);
    for (const std::size_t member : members) circle[member] = number;
    ++number;
  }
  return circle;
}

}  // namespace teller::flight
