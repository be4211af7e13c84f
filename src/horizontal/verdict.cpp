#include <algorithm>
#include <cmath>
#include <cstdio>

#include "horizontal/comparison.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

// Which units count as late. Healthy ranks scatter by `spread`; host threads besides lose time
// slices of some milliseconds, which says nothing of the rank.
constexpr double kLateSpreads = 3;
constexpr double kLateShare = 0.05;  // of a unit
// Where a rank is late a little at every place of a step, what it has is a smaller share of the
// CPU: a host thread then counts as late only where it lost more than one turn of a busy scheduler.
constexpr double kTurnNs = 15e6;
constexpr double kPlacesShare = 1.0 / 3;  // the places of a step where it is latest
constexpr double kConcentrated = 0.7;     // hold this much of its lateness, if something is there
constexpr double kSteadyShare = 0.2;      // … or is late by this much of a unit
constexpr double kSteadyUnits = 0.9;      // in so many of the units
constexpr double kSteadyEven = 5;         // and varies by a fifth of it at most
// … for this long: another process takes a part of one CPU evenly too, for a second or less.
constexpr std::size_t kSteadyLeast = 16;
constexpr double kOftenShare = 0.5;  // of the units: late as a rule
constexpr double kRareSpreads = 8;   // late now and then: only what is far out counts
constexpr double kRareSingles = 5;   // … at one collective: small delays sum up on busy machines
constexpr double kRareUnits = 0.5;   // … and a large part of a unit
constexpr double kHostFloorNs = 30e6;  // … and more than a busy machine's scheduler takes
// Kernels come when they are launched and the device is free: no scheduler blurs that.
constexpr double kDeviceRareUnits = 0.1;
constexpr double kDeviceFloorNs = 1e6;
constexpr double kSingleFactor = 2;   // of all that, if it happened once
constexpr double kLeastOfRun = 0.03;  // lateness over the whole time
constexpr double kDominance = 2;      // over the next rank
constexpr double kSpreadFloorNs = 20'000;
constexpr std::size_t kLeastUnits = 3;

// How late one rank was, over all units.
struct Lag {
  std::uint32_t rank = 0;
  std::size_t often = 0;  // units in which it was late
  std::size_t rare = 0;   // units in which it was very late
  double often_ns = 0;    // what they sum to
  double rare_ns = 0;
  double typical_ns = 0;  // median lateness of the units that count
  bool as_a_rule = false;
  double counted_ns() const { return as_a_rule ? often_ns : rare_ns; }
};

class Judge {
 public:
  Judge(const Chains& chains, Comparison& found) : chains_(chains), found_(found) {
    spread_ = std::max({found.lateness.spread_ns, kSpreadFloorNs});
    unit_ = found.lateness.unit_ns;
    for (const Unit& unit : found.lateness.units) whole_ += std::max(unit.length_ns, 0.0);
  }

  void run() {
    if (found_.lateness.units.size() < kLeastUnits || unit_ <= 0) return;
    std::vector<Lag> lags;
    for (std::uint32_t rank = 0; rank < found_.operations.ranks.size(); ++rank) {
      lags.push_back(lag_of(rank));
    }
    std::sort(lags.begin(), lags.end(), [](const Lag& a, const Lag& b) {
      return a.counted_ns() != b.counted_ns() ? a.counted_ns() > b.counted_ns() : a.rank < b.rank;
    });
    if (lags.size() < 2 || !stands_out(lags[0])) return;
    // Two ranks of many may be late; ranks that are late alike are no culprits.
    std::size_t count = 1;
    while (count < lags.size() && stands_out(lags[count]) &&
           lags[count].counted_ns() > lags[0].counted_ns() / kDominance) {
      ++count;
    }
    const double next = count < lags.size() ? lags[count].counted_ns() : 0;
    if (2 * count > lags.size() || lags[count - 1].counted_ns() < kDominance * next) return;
    lags.resize(count);
    name(lags);
  }

 private:
  Lag lag_of(std::uint32_t rank) const {
    Lag lag;
    lag.rank = rank;
    const bool device = on_device(rank);
    const double often = std::max(kLateSpreads * spread_, kLateShare * unit_);
    const double rare =
        device ? std::max({kRareSpreads * spread_, kDeviceRareUnits * unit_, kDeviceFloorNs})
               : std::max({kRareSpreads * spread_, kRareSingles * found_.lateness.single_ns,
                           kRareUnits * unit_, kHostFloorNs});
    const std::vector<double> counted = counted_lateness(rank);
    std::vector<double> often_values, rare_values;
    for (std::size_t i = 0; i < counted.size(); ++i) {
      const Unit& unit = found_.lateness.units[i];
      const double late = std::min(unit.late_ns[rank], counted[i]);
      if (late > often) often_values.push_back(late);
      if ((device ? late : std::min(late, unit.most_ns[rank])) > rare) rare_values.push_back(late);
    }
    if (rare_values.size() == 1 && rare_values[0] < kSingleFactor * rare) rare_values.clear();
    lag.often = often_values.size();
    lag.rare = rare_values.size();
    for (const double late : often_values) lag.often_ns += late;
    for (const double late : rare_values) lag.rare_ns += late;
    const auto units = static_cast<double>(found_.lateness.units.size());
    lag.as_a_rule = static_cast<double>(lag.often) >= kOftenShare * units;
    lag.typical_ns = median(lag.as_a_rule ? often_values : rare_values);
    return lag;
  }

  // Lateness per unit: all of it, or what is more than a turn of the scheduler each time.
  std::vector<double> counted_lateness(std::uint32_t rank) const {
    std::vector<double> late(found_.lateness.units.size(), 0);
    const bool all = on_device(rank) || is_concentrated(rank) || is_steady(rank);
    for (const LateCase& one : found_.lateness.cases[rank]) {
      if (all || one.late_ns > kTurnNs) late[one.unit] += one.late_ns;
    }
    return late;
  }

  // Late in nearly every one of many units by nearly the same: no scheduler is that even for long.
  bool is_steady(std::uint32_t rank) const {
    if (found_.lateness.units.size() < kSteadyLeast) return false;
    std::vector<double> late;
    std::size_t far = 0;
    for (const Unit& unit : found_.lateness.units) {
      late.push_back(unit.late_ns[rank]);
      if (unit.late_ns[rank] > std::max(kRareSpreads * spread_, kSteadyShare * unit_)) ++far;
    }
    const double usual = median(late);
    return static_cast<double>(far) >= kSteadyUnits * static_cast<double>(late.size()) &&
           spread_about(std::move(late), usual) < usual / kSteadyEven;
  }

  bool is_concentrated(std::uint32_t rank) const {
    std::vector<double> by_place;
    double whole = 0;
    for (const LateCase& one : found_.lateness.cases[rank]) {
      if (one.position >= by_place.size()) by_place.resize(one.position + 1, 0);
      by_place[one.position] += one.late_ns;
      whole += one.late_ns;
    }
    std::size_t places = 0;
    for (const Unit& unit : found_.lateness.units) places = std::max(places, unit.collectives);
    if (places < 2) return false;
    std::sort(by_place.rbegin(), by_place.rend());
    const auto top = static_cast<std::size_t>(
        std::max(1.0, std::floor(kPlacesShare * static_cast<double>(places))));
    double held = 0;
    for (std::size_t i = 0; i < std::min(top, by_place.size()); ++i) held += by_place[i];
    return held >= kConcentrated * whole;
  }

  bool on_device(std::uint32_t rank) const {
    const auto& list = found_.operations.ranks[rank].list;
    return std::any_of(list.begin(), list.end(), [](const Operation& op) { return op.device; });
  }

  bool stands_out(const Lag& lag) const {
    return whole_ > 0 && lag.counted_ns() >= kLeastOfRun * whole_;
  }

  void name(const std::vector<Lag>& lags) {
    double all = 0;
    for (const Lag& lag : lags) all += lag.counted_ns();
    const double noise = spread_ * static_cast<double>(found_.lateness.units.size());
    for (const Lag& lag : lags) {
      const DoingFound doing =
          find_doing(chains_, found_.operations, found_.matching, found_.lateness, lag.rank);
      if (found_.verdict.culprits.empty()) found_.culprit_doing = doing.doing;
      CulpritRank culprit;
      culprit.rank = found_.operations.ranks[lag.rank].rank;
      culprit.numbered = found_.operations.ranks[lag.rank].numbered;
      culprit.score = lag.counted_ns() / (all + noise);
      culprit.why = why(lag, doing);
      found_.verdict.culprits.push_back(std::move(culprit));
    }
  }

  std::string why(const Lag& lag, const DoingFound& doing) const {
    const auto& units = found_.lateness.units;
    const bool steps = units[0].step >= 0 || units.back().step >= 0;
    const std::size_t count = lag.as_a_rule ? lag.often : lag.rare;
    std::vector<double> waits;
    for (const Unit& unit : units) {
      std::vector<double> others;
      for (std::size_t rank = 0; rank < unit.wait_ns.size(); ++rank) {
        if (rank != lag.rank) others.push_back(unit.wait_ns[rank]);
      }
      waits.push_back(median(std::move(others)));
    }
    std::string text = found_.operations.ranks[lag.rank].name + " comes late to collectives in " +
                       std::to_string(count) + " of " + std::to_string(units.size()) +
                       (steps ? " steps" : " collectives") + ", by " + time_text(lag.typical_ns) +
                       " in the median of them (" + percent_text(lag.typical_ns / unit_) +
                       " of a step of " + time_text(unit_) + "; ranks scatter by " +
                       time_text(spread_) + "); the other ranks wait " + time_text(median(waits)) +
                       " a step";
    return text + "; " + doing_text(doing);
  }

  static std::string doing_text(const DoingFound& doing) {
    const std::string share = percent_text(doing.share) + " of its lateness";
    switch (doing.doing) {
      case Doing::kUnknown:
        return "what it did meanwhile takes its peers as long: no cause was recorded";
      case Doing::kNothing:
        return share +
               " is time in which it ran no recorded operator, call or function: Python itself, as "
               "in garbage collection, a system call or no CPU";
      default:
        break;
    }
    std::string text = share + " is " + doing_words(doing.doing);
    if (!doing.name.empty()) text += ", most of it \"" + doing.name.substr(0, 120) + "\"";
    return text + " (" + time_text(doing.excess_ns) + " more than its peers each time)";
  }

  const Chains& chains_;
  Comparison& found_;
  double spread_ = 0;
  double unit_ = 0;
  double whole_ = 0;
};

void add_evidence(Comparison& found) {
  RankVerdict& verdict = found.verdict;
  for (const CulpritRank& one : verdict.culprits) verdict.evidence.push_back(one.why);
  if (verdict.link) verdict.evidence.push_back(verdict.link->why);
  for (const SharedRank& one : found.operations.shared) {
    found.verdict.unclear = found.verdict.unclear || !one.apart;
  }
}

}  // namespace

void judge(const Chains& chains, const Pace* healthy, Comparison& found) {
  found.verdict = {};
  found.culprit_doing = Doing::kUnknown;
  std::vector<CulpritRank> absent = absent_ranks(found);
  if (!absent.empty()) {
    found.verdict.culprits = std::move(absent);
  } else {
    Judge(chains, found).run();
  }
  found.verdict.too_few = found.lateness.units.size() < kLeastUnits;
  if (found.verdict.culprits.empty()) found.verdict.link = slow_link(found);
  std::vector<std::string> pace;
  const std::optional<bool> uniform = uniform_slowness(found, healthy, pace);
  if (!found.verdict.culprits.empty() || found.verdict.link) {
    found.verdict.uniform = false;
  } else {
    found.verdict.uniform = uniform;
  }
  add_evidence(found);
  if (found.verdict.uniform.value_or(false)) {
    found.verdict.evidence.insert(found.verdict.evidence.end(), pace.begin(), pace.end());
  }
}

std::string time_text(double ns) {
  char text[48];
  const double size = std::abs(ns);
  if (size >= 1e9)
    std::snprintf(text, sizeof text, "%.3g s", ns / 1e9);
  else if (size >= 1e6)
    std::snprintf(text, sizeof text, "%.3g ms", ns / 1e6);
  else
    std::snprintf(text, sizeof text, "%.3g us", ns / 1e3);
  return text;
}

std::string percent_text(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

}  // namespace teller::horizontal_detail
