// A slow link: one pair's transfers take longer than those of other pairs, though both ends come in
// time. Only operations between two ranks can tell: in a ring every rank is as slow as the slowest.
#include <algorithm>
#include <map>
#include <tuple>

#include "horizontal/comparison.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

constexpr std::size_t kLeastTransfers = 5;  // of a pair
constexpr std::size_t kLeastPairs = 3;
constexpr double kLeastRatio = 1.5;
constexpr double kLeastSpreads = 6;
constexpr double kTransferFloorNs = 20'000;
// So many pairs, the slowest, are compared with the others: each takes time by the number of pairs.
constexpr std::size_t kMostCompared = 64;

struct PairTransfers {
  std::vector<double> transfers, spreads;
  double median_ns = 0;
};
using Pairs = std::map<std::pair<int, int>, PairTransfers>;

std::vector<Pairs::const_iterator> slowest(const Pairs& pairs) {
  std::vector<Pairs::const_iterator> list;
  for (auto one = pairs.begin(); one != pairs.end(); ++one) {
    if (one->second.transfers.size() >= kLeastTransfers) list.push_back(one);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return a->second.median_ns > b->second.median_ns;
  });
  if (list.size() > kMostCompared) list.resize(kMostCompared);
  return list;
}

}  // namespace

std::optional<CulpritLink> slow_link(const Comparison& found) {
  // (operation, bytes) -> pair -> transfers: only like is compared with like
  std::map<std::pair<std::uint32_t, std::int64_t>, Pairs> all;
  for (std::size_t i = 0; i < found.measures.size(); ++i) {
    const Measure& one = found.measures[i];
    const Collective& collective = found.matching.collectives[i];
    if (one.arrivals.size() != 2 || collective.members.size() != 2 || one.transfer_ns < 0) continue;
    const Member& first = collective.members[0];
    const Member& second = collective.members[1];
    const auto& ranks = found.operations.ranks;
    if (!ranks[first.rank].numbered || !ranks[second.rank].numbered) continue;
    const Operation& op = ranks[first.rank].list[first.at];
    const std::pair<int, int> pair = op.from >= 0 && op.to >= 0
                                         ? std::pair{op.from, op.to}
                                         : std::pair{found.operations.ranks[first.rank].rank,
                                                     found.operations.ranks[second.rank].rank};
    // A receiver may wait for long: what counts is the time after both came.
    PairTransfers& list = all[{op.from >= 0 ? 0 : op.operation, op.bytes}][pair];
    list.transfers.push_back(one.transfer_ns);
    list.spreads.push_back(one.spread_ns);
  }
  std::optional<CulpritLink> worst;
  double worst_ratio = kLeastRatio;
  for (auto& [kind, pairs] : all) {
    if (pairs.size() < kLeastPairs) continue;
    for (auto& [pair, own] : pairs) own.median_ns = median(own.transfers);
    for (const auto& one : slowest(pairs)) {
      const auto& [pair, own] = *one;
      std::vector<double> others;
      for (const auto& [other, list] : pairs) {
        if (other != pair) others.push_back(list.median_ns);
      }
      const double mine = own.median_ns, usual = median(others);
      const double spread = std::max(
          {spread_about(others, usual), spread_about(own.transfers, mine), kTransferFloorNs});
      const double ratio = mine / std::max(usual, kTransferFloorNs);
      if (ratio <= worst_ratio || mine - usual < kLeastSpreads * spread / 2) continue;
      if (mine - usual < kLeastSpreads * kTransferFloorNs) continue;
      worst_ratio = ratio;
      CulpritLink link;
      link.from = pair.first;
      link.to = pair.second;
      link.why = "between rank " + std::to_string(pair.first) + " and rank " +
                 std::to_string(pair.second) + " the same transfer takes " + time_text(mine) +
                 " after both have come, between other pairs " + time_text(usual) +
                 " (medians of " + std::to_string(own.transfers.size()) + " transfers and " +
                 std::to_string(others.size()) + " pairs); arrivals lie " +
                 time_text(median(own.spreads)) + " apart";
      worst = std::move(link);
    }
  }
  return worst;
}

}  // namespace teller::horizontal_detail
