// The slice's formula, taken literally, against the fast one.
#include "slice/relevance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace teller::slice_detail {
namespace {

constexpr std::uint32_t kNone = 0xffffffff;

struct Made {
  std::vector<std::uint32_t> parent;
  std::vector<std::int64_t> begin, end;
  std::vector<std::uint8_t> suspicious;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> communication;
  RelevanceGraph graph() const { return {parent, begin, end, suspicious, communication}; }
};

Made make(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::uint64_t n) { return random() % n; };
  Made made;
  const std::size_t count = 1 + below(60);
  const std::uint64_t span = seed % 3 == 0 ? 300 : 100'000;
  const std::uint64_t one_in = 1 + below(20);
  for (std::uint32_t v = 0; v < count; ++v) {
    made.parent.push_back(v == 0 || below(15) == 0 ? kNone : static_cast<std::uint32_t>(below(v)));
    const auto begin = static_cast<std::int64_t>(below(span));
    made.begin.push_back(begin);
    made.end.push_back(begin + static_cast<std::int64_t>(below(span / 10)));
    made.suspicious.push_back(below(one_in) == 0 ? 1 : 0);
  }
  for (std::size_t i = 0; i < below(20); ++i) {
    made.communication.emplace_back(below(count), below(count));
  }
  return made;
}

bool tied(const Made& made, std::uint32_t u, std::uint32_t v) {
  return std::any_of(made.communication.begin(), made.communication.end(), [&](const auto& edge) {
    return edge == std::pair(u, v) || edge == std::pair(v, u);
  });
}

double literal(const Made& made, const RelevanceWeights& w, std::uint32_t v) {
  double kin = 0, near = 0, comm = 0;
  for (std::uint32_t u = 0; u < made.parent.size(); ++u) {
    if (made.suspicious[u] == 0) continue;
    if (made.parent[u] == v || made.parent[v] == u) kin = 1;
    if (tied(made, u, v)) comm = 1;
    const std::int64_t gap =
        std::max<std::int64_t>({made.begin[u] - made.end[v], made.begin[v] - made.end[u], 0});
    near = std::max(near, std::exp(-static_cast<double>(gap) / w.tau_ns));
  }
  return w.alpha * made.suspicious[v] + w.beta * kin + w.gamma * near + w.eta * comm;
}

std::set<std::uint32_t> literal_ancestors(const Made& made, std::uint32_t levels) {
  std::set<std::uint32_t> found;
  for (std::uint32_t u = 0; u < made.parent.size(); ++u) {
    if (made.suspicious[u] == 0) continue;
    std::uint32_t at = made.parent[u];
    for (std::uint32_t level = 0; level < levels && at != kNone; ++level) {
      found.insert(at);
      at = made.parent[at];
    }
  }
  return found;
}

TEST(Relevance, EqualsTheFormulaTakenLiterally) {
  std::size_t kept_nodes = 0, all_nodes = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Made made = make(seed);
    RelevanceWeights w;
    w.tau_ns = seed % 2 == 0 ? 50 : 3000;
    w.ancestors = static_cast<std::uint32_t>(seed % 5);
    w.eta = 0.35;
    const std::vector<float> fast = relevance(made.graph(), w);
    const std::vector<std::uint8_t> ancestors = ancestors_of_suspicious(made.graph(), w.ancestors);
    const std::set<std::uint32_t> expected_ancestors = literal_ancestors(made, w.ancestors);
    for (std::uint32_t v = 0; v < made.parent.size(); ++v) {
      const double slow = literal(made, w, v);
      ASSERT_NEAR(static_cast<double>(fast[v]), slow, 1e-6) << "seed " << seed << " node " << v;
      const bool above = expected_ancestors.count(v) != 0;
      ASSERT_EQ(ancestors[v] != 0, above) << "seed " << seed << " node " << v;
      const auto kappa = static_cast<float>(w.kappa);
      const bool kept = fast[v] >= kappa || ancestors[v] != 0;
      ASSERT_EQ(kept, static_cast<float>(slow) >= kappa || above) << "seed " << seed;
      kept_nodes += kept ? 1 : 0;
      ++all_nodes;
    }
  }
  EXPECT_GT(kept_nodes, all_nodes / 10);  // the cases are worth comparing
  EXPECT_LT(kept_nodes, 9 * all_nodes / 10);
}

TEST(Relevance, IsZeroWhereNothingIsSuspicious) {
  Made made = make(7);
  std::fill(made.suspicious.begin(), made.suspicious.end(), 0);
  for (const float r : relevance(made.graph(), {})) EXPECT_EQ(r, 0);
}

}  // namespace
}  // namespace teller::slice_detail
