// Strongly connected components of the graph of waits, without recursion: chains of waits are as
// long as a job has ranks.
#include <map>

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

WaitGraph::WaitGraph(const std::vector<Position>& positions) : nodes(positions.size()) {
  std::map<const std::vector<Wait>*, std::size_t> points;
  forward.resize(nodes);
  for (std::size_t node = 0; node < nodes; ++node) {
    const std::vector<Wait>* list = positions[node].waits.get();
    if (list->empty()) continue;
    const auto [point, is_new] = points.emplace(list, forward.size());
    forward[node].push_back(point->second);
    if (!is_new) continue;
    std::vector<std::size_t>& ends = forward.emplace_back();
    for (const Wait& wait : *list) ends.push_back(wait.node);
  }
  backward.resize(forward.size());
  for (std::size_t point = 0; point < forward.size(); ++point) {
    for (const std::size_t next : forward[point]) backward[next].push_back(point);
  }
}

std::vector<std::size_t> find_circles(const WaitGraph& graph) {
  const std::size_t count = graph.forward.size();
  std::vector<bool> seen(count, false);
  std::vector<std::size_t> order;
  for (std::size_t point = 0; point < count; ++point) walk(graph.forward, point, seen, order);
  std::vector<std::size_t> circle(count, 0);
  seen.assign(count, false);
  std::size_t number = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (seen[order[i]]) continue;
    std::vector<std::size_t> members;
    walk(graph.backward, order[i], seen, members);
    for (const std::size_t member : members) circle[member] = number;
    ++number;
  }
  return circle;
}

}  // namespace teller::flight
