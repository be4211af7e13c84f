// Clocks of ranks that have no collective in common, from their sends and receives.
#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "horizontal/clock_line.h"
#include "horizontal/clocks.h"
#include "horizontal/facts.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

constexpr std::size_t kLeastTransfers = 3;
// Of how long a receive ends after its send, the shorter ones show the path alone: a receiver that
// comes late takes what has long been sent.
constexpr double kPromptQuantile = 0.25;
// Of bounds that one absurd time may break so many are passed over.
constexpr double kBoundQuantile = 0.05;

// Transfers between two sets of ranks, in ns since the origin on the clocks of the sets' bases.
// What is apart is the later set's time less the earlier one's.
struct Edge {
  std::vector<ClockPoint> forward;   // ends, sent by the earlier set
  std::vector<ClockPoint> backward;  // ends, sent by the later one
  std::vector<ClockPoint>
      above;  // the clocks' offset is at most: a receive ends after its send began
  std::vector<ClockPoint> below;  // … at least
  std::size_t count() const { return forward.size() + backward.size(); }
};

struct Line {
  double offset = 0, drift = 0;  // later = … as RankClock's
  bool drift_known = false;
  double residual = 0, uncertainty = 0;
  std::size_t transfers = 0;
};

std::vector<double> straightened(const std::vector<ClockPoint>& points, double drift) {
  std::vector<double> rest;
  for (const ClockPoint& point : points) rest.push_back(point.apart - drift * point.time);
  return rest;
}

double slope_of(std::vector<ClockPoint> points, bool& known) {
  known = false;
  if (points.empty()) return 0;
  std::sort(points.begin(), points.end(),
            [](const ClockPoint& a, const ClockPoint& b) { return a.time < b.time; });
  return clock_slope(points, known);
}

// The offset from the prompt ones of both directions: what they take on their way lies between.
// Of one direction alone the way counts as nothing, as it does not for kernels that end together.
Line fit(const Edge& edge) {
  Line line;
  const bool more_forward = edge.forward.size() >= edge.backward.size();
  line.drift = slope_of(more_forward ? edge.forward : edge.backward, line.drift_known);
  const std::vector<double> forward = straightened(edge.forward, line.drift);
  const std::vector<double> backward = straightened(edge.backward, line.drift);
  const double most = quantile(forward, kPromptQuantile);
  const double least = quantile(backward, 1 - kPromptQuantile);
  const bool both = !forward.empty() && !backward.empty();
  double offset = both ? (most + least) / 2 : forward.empty() ? least : most;
  const double apart = both ? std::abs(most - least) / 2 : 0;
  const std::vector<double> above = straightened(edge.above, line.drift);
  const std::vector<double> below = straightened(edge.below, line.drift);
  if (!above.empty()) offset = std::min(offset, quantile(above, kBoundQuantile));
  if (!below.empty()) offset = std::max(offset, quantile(below, 1 - kBoundQuantile));
  std::vector<double> rest = forward;
  rest.insert(rest.end(), backward.begin(), backward.end());
  for (double& value : rest) value = std::abs(value - offset);
  line.residual = median(rest);
  line.transfers = rest.size();
  line.uncertainty = std::max(doubt_of_median(line.residual, rest.size()), apart);
  // common = raw − offset − drift · raw is (1 − drift) · (raw − offset / (1 − drift)).
  line.offset = offset / (1 - line.drift);
  return line;
}

class PairAligner {
 public:
  PairAligner(const Operations& operations, const Matching& matching, Clocks& clocks)
      : operations_(operations), matching_(matching), clocks_(clocks) {}

  void run() {
    const std::size_t count = clocks_.ranks.size();
    set_of_.resize(count);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      set_of_[rank] = clocks_.ranks[rank].aligned ? clocks_.ranks[rank].base : rank;
      members_[set_of_[rank]].push_back(rank);
    }
    for (const Collective& one : matching_.collectives) add(one);
    for (const auto& [pair, edge] : edges_) {
      if (edge.count() < kLeastTransfers) continue;
      neighbours_[pair.first].push_back(pair.second);
      neighbours_[pair.second].push_back(pair.first);
    }
    for (const auto& [base, ranks] : members_) {
      if (placed_.insert(base).second && neighbours_.contains(base)) place_from(base);
    }
    measure_residual();
    for (RankClock& clock : clocks_.ranks) {
      if (clock.aligned) continue;
      clock.why += ", and no " + std::to_string(kLeastTransfers) +
                   " finished sends and receives tie it to one of them";
    }
  }

 private:
  // Ends on the clocks of the bases. Of clocks days apart a double tells ends to some ns yet.
  void add(const Collective& one) {
    if (one.members.size() != 2 || one.mismatched) return;
    const Operation& first = operation(one.members[0]);
    if (!first.has_peers() || first.open || operation(one.members[1]).open) return;
    const bool sends_first = operations_.texts.view(first.operation) == "send";
    const Member& sender = one.members[sends_first ? 0 : 1];
    const Member& receiver = one.members[sends_first ? 1 : 0];
    if (operations_.texts.view(operation(sender).operation) != "send") return;
    if (operations_.texts.view(operation(receiver).operation) != "recv") return;
    const std::uint32_t from = set_of_[sender.rank], to = set_of_[receiver.rank];
    if (from == to) return;
    const double begin = clocks_.aligned(sender.rank, operation(sender).begin_ns);
    const double sent = clocks_.aligned(sender.rank, operation(sender).end_ns);
    const double received = clocks_.aligned(receiver.rank, operation(receiver).end_ns);
    if (from < to) {
      edges_[{from, to}].forward.push_back({received, received - sent});
      edges_[{from, to}].above.push_back({received, received - begin});
    } else {
      edges_[{to, from}].backward.push_back({sent, sent - received});
      edges_[{to, from}].below.push_back({begin, begin - received});
    }
  }

  const Operation& operation(const Member& member) const {
    return operations_.ranks[member.rank].list[member.at];
  }

  // The tree of links that rest on most transfers, from the first set on.
  void place_from(std::uint32_t base) {
    using Link = std::pair<std::size_t, std::pair<std::uint32_t, std::uint32_t>>;
    const auto later = [](const Link& a, const Link& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    std::priority_queue<Link, std::vector<Link>, decltype(later)> open(later);
    const auto reach = [&](std::uint32_t set) {
      for (const std::uint32_t next : neighbours_[set]) {
        if (placed_.contains(next)) continue;
        open.push({edges_.at(std::minmax(set, next)).count(), {set, next}});
      }
    };
    lines_[base] = Line();
    reach(base);
    while (!open.empty()) {
      const auto [from, to] = open.top().second;
      open.pop();
      if (!placed_.insert(to).second) continue;
      lines_[to] = joined(lines_[from], line_between(from, to));
      move(to, base, lines_[to]);
      reach(to);
    }
    make_reference(base);
  }

  // The line that takes times of `to` to the clock of `from`.
  Line line_between(std::uint32_t from, std::uint32_t to) const {
    const Line line = fit(edges_.at(std::minmax(from, to)));
    if (from < to) return line;
    Line back = line;  // t = b / (1 − d) + o, as (1 − d') · (b − o')
    back.drift = 1 - 1 / (1 - line.drift);
    back.offset = -line.offset * (1 - line.drift);
    return back;
  }

  static Line joined(const Line& first, const Line& second) {
    Line line = second;
    line.drift = 1 - (1 - first.drift) * (1 - second.drift);
    line.offset = second.offset + first.offset / (1 - second.drift);
    line.drift_known = second.drift_known && (first.drift_known || first.transfers == 0);
    line.residual = std::max(first.residual, second.residual);
    line.uncertainty = std::hypot(first.uncertainty, second.uncertainty);
    if (first.transfers > 0) line.transfers = std::min(first.transfers, second.transfers);
    return line;
  }

  // Takes a set of ranks onto the clock of another base.
  void move(std::uint32_t set, std::uint32_t base, const Line& line) {
    for (const std::uint32_t rank : members_[set]) {
      RankClock& clock = clocks_.ranks[rank];
      Line own;
      if (clock.applied) own = {clock.offset_ns, clock.drift, clock.drift_known, 0, 0, 0};
      if (clock.aligned) own.residual = clock.residual_ns;
      if (clock.aligned) own.uncertainty = clock.uncertainty_ns;
      const Line whole = joined(line, own);
      const bool alone = !clock.aligned || clock.reference;
      clock.aligned = true;
      clock.reference = false;
      clock.base = base;
      clock.offset_ns = whole.offset;
      clock.drift = whole.drift;
      clock.drift_known = line.drift_known && (alone || clock.drift_known);
      clock.residual_ns = whole.residual;
      clock.uncertainty_ns = whole.uncertainty;
      clock.transfers = line.transfers;
      clock.applied = is_worth_applying(clock, clock.residual_ns);
      clock.why.clear();
    }
  }

  // A set that has neighbours has ranks moved onto its clock.
  void make_reference(std::uint32_t base) {
    RankClock& clock = clocks_.ranks[base];
    if (clock.aligned) return;
    clock.aligned = clock.reference = true;
    clock.base = base;
    clock.why.clear();
  }

  // Over the ranks of all trees, and those that collectives align.
  void measure_residual() {
    std::vector<double> residuals;
    for (const RankClock& one : clocks_.ranks) {
      if (one.aligned && !one.reference) residuals.push_back(one.residual_ns);
    }
    clocks_.residual_ns = median(std::move(residuals));
  }

  const Operations& operations_;
  const Matching& matching_;
  Clocks& clocks_;
  std::vector<std::uint32_t> set_of_;                            // by rank: its set's base
  std::map<std::uint32_t, std::vector<std::uint32_t>> members_;  // by base
  std::map<std::pair<std::uint32_t, std::uint32_t>, Edge> edges_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> neighbours_;
  std::set<std::uint32_t> placed_;
  std::map<std::uint32_t, Line> lines_;  // to the clock of the tree's first set
};

}  // namespace

void align_by_transfers(const Operations& operations, const Matching& matching, Clocks& clocks) {
  PairAligner(operations, matching, clocks).run();
}

}  // namespace teller::horizontal_detail
