#include "horizontal/clocks.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "horizontal/clock_line.h"
#include "horizontal/facts.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

// An offset of less than this many residuals is as well explained by how ends scatter.
constexpr double kApplyFrom = 3;
constexpr int kRounds = 3;
// Less than this a rank's clock counts as off by at first: a time less the origin, less this, fits.
constexpr double kMostRoughNs = 1.5 * static_cast<double>(kTimeLimitNs);

class Aligner {
 public:
  Aligner(const Operations& operations, const Matching& matching)
      : operations_(operations), matching_(matching) {}

  Clocks run() {
    clocks_.ranks.resize(operations_.ranks.size());
    rough_.resize(operations_.ranks.size(), 0);
    base_.resize(operations_.ranks.size(), kNoIndex);
    choose();
    for (std::uint32_t rank = 0; rank < clocks_.ranks.size(); ++rank) {
      if (base_[rank] == kNoIndex && shares_enough(rank)) start_roughly(rank);
    }
    for (int round = 0; round < kRounds; ++round) refine();
    return finish();
  }

 private:
  const Operation& operation(const Member& member) const {
    return operations_.ranks[member.rank].list[member.at];
  }
  bool shares_enough(std::uint32_t rank) const {
    return clocks_.ranks[rank].collectives >= kLeastCollectives;
  }

  // Collectives whose ends say something: nobody can end before all have come. The origin is the
  // first of them on the rank that the others are aligned to, so that offsets are what they are
  // where the recording is.
  void choose() {
    for (const Collective& one : matching_.collectives) {
      const Operation& first = operation(one.shown);
      const bool open = std::any_of(one.members.begin(), one.members.end(),
                                    [this](const Member& m) { return operation(m).open; });
      if (one.members.size() < 2 || one.mismatched || open) continue;
      if (!is_synchronising(operations_.texts.view(first.operation))) continue;
      used_.push_back(&one);
      for (const Member& member : one.members) ++clocks_.ranks[member.rank].collectives;
    }
    std::optional<std::pair<std::uint32_t, std::int64_t>> first;  // rank, begin
    const auto consider = [&](const Collective& one, bool any) {
      for (const Member& member : one.members) {
        if (!any && !shares_enough(member.rank)) continue;
        const std::pair found{member.rank, operation(member).begin_ns};
        if (!first || found < *first) first = found;
      }
    };
    for (const Collective* one : used_) consider(*one, false);
    if (!first) {
      for (const Collective& one : matching_.collectives) consider(one, true);
    }
    clocks_.origin_ns = first ? first->second : 0;
  }

  // Since the origin, less what its clock is roughly off by: small numbers, however far the clocks
  // of hosts lie apart.
  double raw(const Member& member) const {
    const std::int64_t time = operation(member).end_ns - clocks_.origin_ns;
    return static_cast<double>(time - rough_[member.rank]);
  }
  double corrected(const Member& member) const {
    const RankClock& clock = clocks_.ranks[member.rank];
    return raw(member) - clock.offset_ns - clock.drift * raw(member);
  }

  // Clocks may be days apart at first: each rank takes over the offset to a rank that is placed.
  // Ranks that share no collective with `first`, through others neither, are left to one of theirs.
  void start_roughly(std::uint32_t first) {
    std::vector<bool> placed(clocks_.ranks.size(), false);
    bool moved = true;
    placed[first] = true;
    base_[first] = first;
    while (moved) {
      moved = false;
      std::vector<std::vector<double>> apart(clocks_.ranks.size());
      for (const Collective* one : used_) collect_offsets(*one, placed, apart);
      for (std::size_t rank = 0; rank < apart.size(); ++rank) {
        if (placed[rank] || apart[rank].empty()) continue;
        rough_[rank] = std::llround(std::clamp(median(apart[rank]), -kMostRoughNs, kMostRoughNs));
        base_[rank] = first;
        placed[rank] = moved = true;
      }
    }
  }

  void collect_offsets(const Collective& one, const std::vector<bool>& placed,
                       std::vector<std::vector<double>>& apart) const {
    for (const Member& anchor : one.members) {
      if (!placed[anchor.rank]) continue;
      for (const Member& member : one.members) {
        if (!placed[member.rank]) apart[member.rank].push_back(raw(member) - corrected(anchor));
      }
      return;
    }
  }

  void refine() {
    std::vector<std::vector<ClockPoint>> points(clocks_.ranks.size());
    for (const Collective* one : used_) {
      std::vector<double> ends;
      for (const Member& member : one->members) ends.push_back(corrected(member));
      const double end = median(ends);
      for (const Member& member : one->members) {
        points[member.rank].push_back({raw(member), raw(member) - end});
      }
    }
    for (std::size_t rank = 0; rank < points.size(); ++rank) fit(points[rank], clocks_.ranks[rank]);
  }

  // The slope is the median over pairs that lie half of all points apart (linear in time); then the
  // offset is the median of what is left.
  static void fit(std::vector<ClockPoint>& points, RankClock& clock) {
    if (points.empty()) return;
    std::sort(points.begin(), points.end(),
              [](const ClockPoint& a, const ClockPoint& b) { return a.time < b.time; });
    clock.drift = clock_slope(points, clock.drift_known);
    std::vector<double> rest;
    for (const ClockPoint& point : points) rest.push_back(point.apart - clock.drift * point.time);
    clock.offset_ns = median(rest);
    for (double& value : rest) value = std::abs(value - clock.offset_ns);
    clock.residual_ns = median(rest);
    clock.uncertainty_ns = doubt_of_median(clock.residual_ns, rest.size());
  }

  Clocks finish() {
    for (std::uint32_t rank = 0; rank < clocks_.ranks.size(); ++rank) {
      judge(rank, clocks_.ranks[rank]);
    }
    const std::vector<RankClock> found = clocks_.ranks;
    std::vector<double> residuals;
    for (std::uint32_t rank = 0; rank < found.size(); ++rank) {
      RankClock& clock = clocks_.ranks[rank];
      if (!clock.aligned) {
        clock.offset_ns = clock.drift = 0;
        clock.drift_known = false;
        continue;
      }
      clock.base = base_[rank];
      relate(clock, found[clock.base]);
      if (!clock.reference) residuals.push_back(clock.residual_ns);
    }
    clocks_.residual_ns = median(residuals);
    return std::move(clocks_);
  }

  // Makes of the line that was fitted, common = raw − offset − drift · raw, what a clock is ahead
  // by when the common time is 0: common = (1 − drift) · (time − offset).
  void judge(std::uint32_t rank, RankClock& clock) const {
    if (!shares_enough(rank)) {
      clock.why = "it shares " + std::to_string(clock.collectives) +
                  " finished collectives with other ranks, " + std::to_string(kLeastCollectives) +
                  " are needed";
      return;
    }
    clock.aligned = true;
    clock.reference = base_[rank] == rank;
    clock.offset_ns = static_cast<double>(rough_[rank]) + clock.offset_ns / (1 - clock.drift);
  }

  // From the common time of the fit to the clock of the base. Both are lines, and lines are
  // composed, not subtracted: (1 − d) · (t − o) = (1 − db) · (tb − ob) gives
  // tb = (1 − d') · (t − o') with 1 − d' = (1 − d) / (1 − db) and o' = o − ob / (1 − d').
  static void relate(RankClock& clock, const RankClock& base) {
    clock.drift = 1 - (1 - clock.drift) / (1 - base.drift);
    clock.offset_ns -= base.offset_ns / (1 - clock.drift);
    if (clock.reference) clock.drift = clock.offset_ns = 0;
    const double scatter = std::max(clock.residual_ns, base.residual_ns);
    clock.applied = !clock.reference && is_worth_applying(clock, scatter);
  }

  const Operations& operations_;
  const Matching& matching_;
  std::vector<const Collective*> used_;
  std::vector<std::int64_t> rough_;  // by rank: how far its clock is ahead, roughly
  std::vector<std::uint32_t> base_;  // by rank: the one that it is aligned to; kNoIndex for none
  Clocks clocks_;
};

}  // namespace

double Clocks::aligned(std::uint32_t rank, std::int64_t time_ns) const {
  const RankClock& clock = ranks[rank];
  const auto time = static_cast<double>(time_ns - origin_ns);
  return clock.applied ? (1 - clock.drift) * (time - clock.offset_ns) : time;
}

bool is_worth_applying(const RankClock& clock, double scatter_ns) {
  return std::abs(clock.offset_ns) > kApplyFrom * scatter_ns || clock.drift != 0;
}

Clocks align_clocks(const Operations& operations, const Matching& matching) {
  Clocks clocks = Aligner(operations, matching).run();
  align_by_transfers(operations, matching, clocks);
  return clocks;
}

}  // namespace teller::horizontal_detail
