#include "horizontal/lateness.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "horizontal/facts.h"
#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

// Asynchronous operations end while others run: so many are looked back at.
constexpr std::size_t kLookBack = 8;

// Time since the rank was last inside a collective; since the last one's begin, where that goes on.
std::vector<double> own_times(const std::vector<Operation>& list) {
  std::vector<double> own(list.size(), -1);
  for (std::size_t i = 1; i < list.size(); ++i) {
    std::int64_t since = list[i - 1].begin_ns;
    for (std::size_t j = i > kLookBack ? i - kLookBack : 0; j < i; ++j) {
      const bool over = !list[j].open && list[j].end_ns <= list[i].begin_ns;
      since = std::max(since, over ? list[j].end_ns : list[j].begin_ns);
    }
    own[i] = static_cast<double>(list[i].begin_ns - since);
  }
  return own;
}

// Time outside collectives since the rank's last collective of the same group, over all that it had
// with others in between; -1 for the first of a group. Stages of a pipeline have as much of it
// each, though the first stage is the last to have a gradient.
std::vector<double> own_times_in_group(const Operations& operations,
                                       const std::vector<Operation>& list,
                                       const std::vector<double>& own) {
  std::vector<double> in_group(list.size(), -1);
  std::map<std::uint32_t, double> sum_at;  // by group: all own time up to its last collective
  double sum = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    sum += std::max(own[i], 0.0);
    if (is_point_to_point(operations.texts.view(list[i].operation))) continue;
    const auto [last, is_new] = sum_at.try_emplace(list[i].group, sum);
    if (!is_new) in_group[i] = sum - last->second;
    last->second = sum;
  }
  return in_group;
}

// Of two ranks each is late where the other is early, so that a late one blurs both: the spread is
// taken from the quarter of the units that lies closest together.
double core_spread(std::vector<double> values) {
  const std::size_t part = values.size() / 4;
  if (part < 2) return 0;
  std::sort(values.begin(), values.end());
  double shortest = values.back() - values.front();
  for (std::size_t i = 0; i + part < values.size(); ++i) {
    shortest = std::min(shortest, values[i + part] - values[i]);
  }
  return 1.57 * shortest;  // of a normal distribution: its σ
}

// For each value the median of all others; sorted once.
std::vector<double> medians_of_others(const std::vector<double>& values) {
  const std::size_t count = values.size();
  if (count < 2) return std::vector<double>(count, 0);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> medians(count);
  for (std::size_t left_out = 0; left_out < count; ++left_out) {
    const auto at = [&](std::size_t i) { return values[order[i < left_out ? i : i + 1]]; };
    const std::size_t half = (count - 1) / 2;
    medians[order[left_out]] = (count - 1) % 2 == 1 ? at(half) : (at(half - 1) + at(half)) / 2;
  }
  return medians;
}

// What both say, as far as both say it.
double agreed(double a, double b) {
  if (a > 0 && b > 0) return std::min(a, b);
  return a < 0 && b < 0 ? std::max(a, b) : 0;
}

class Finder {
 public:
  Finder(const Chains& chains, const Operations& operations, const Matching& matching,
         const std::vector<Measure>& measures)
      : chains_(chains), operations_(operations), matching_(matching), measures_(measures) {}

  Lateness run() {
    for (const RankOperations& rank : operations_.ranks) {
      found_.own_ns.push_back(own_times(rank.list));
      own_in_group_.push_back(own_times_in_group(operations_, rank.list, found_.own_ns.back()));
    }
    found_.cases.resize(operations_.ranks.size());
    list_steps();
    for (const std::uint32_t at : in_order()) add(at);
    finish();
    return std::move(found_);
  }

 private:
  const Operation& operation(const Member& member) const {
    return operations_.ranks[member.rank].list[member.at];
  }

  // Whole, synchronising collectives by the time at which all had come.
  std::vector<std::uint32_t> in_order() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < measures_.size(); ++i) {
      const Operation& first = operation(matching_.collectives[i].shown);
      const bool useful = measures_[i].arrivals.size() >= 2 && !measures_[i].impossible &&
                          !matching_.collectives[i].mismatched;
      if (useful && is_synchronising(operations_.texts.view(first.operation))) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return measures_[a].last_begin_ns < measures_[b].last_begin_ns;
    });
    return order;
  }

  // The step that a collective lies in; outside of all, the one of its source that began last
  // before it: a step's range may be cut short. Ranges of steps that overlap by a rounding of their
  // times may have made the chains give one's calls to the one before it: what begins after the end
  // of its step belongs to the step that it lies in.
  std::uint32_t step_of(const Operation& op) {
    const std::uint32_t node = op.call == kNoIndex ? op.node : op.call;
    const std::uint32_t stated = chains_.nodes.step[node];
    const std::int64_t time = op.call == kNoIndex ? op.begin_ns : chains_.nodes.begin_ns[node];
    const auto ends_before = [&](std::uint32_t step) {
      return chains_.steps.open[step] == 0 && chains_.steps.end_ns[step] <= time;
    };
    if (stated != kNoIndex && !ends_before(stated)) return stated;
    const auto& begun = steps_of_source_[chains_.nodes.source[node]];
    const auto after =
        std::upper_bound(begun.begin(), begun.end(), time,
                         [](std::int64_t at, const auto& step) { return at < step.first; });
    const std::uint32_t latest = after == begun.begin() ? kNoIndex : std::prev(after)->second;
    if (stated == kNoIndex) return latest;
    return latest == kNoIndex || ends_before(latest) ? stated : latest;
  }

  void list_steps() {
    steps_of_source_.resize(chains_.source_count());
    for (std::uint32_t step = 0; step < chains_.step_count(); ++step) {
      const std::uint16_t source = chains_.nodes.source[chains_.steps.root[step]];
      steps_of_source_[source].emplace_back(chains_.steps.begin_ns[step], step);
    }
    for (auto& list : steps_of_source_) std::sort(list.begin(), list.end());
  }

  // The unit of a collective: that of its step's number and occurrence on its first member's rank.
  Unit& unit_of(const Member& member, std::uint32_t& index) {
    const Operation& op = operation(member);
    const std::uint32_t step = step_of(op);
    const std::int64_t number = step == kNoIndex ? -1 : chains_.steps.number[step];
    if (number < 0 && step == kNoIndex) {
      index = static_cast<std::uint32_t>(found_.units.size());
      found_.units.emplace_back();
    } else {
      const auto key = number >= 0 ? std::pair{std::int64_t{0}, number}
                                   : std::pair{std::int64_t{1}, std::int64_t{step}};
      const auto [known, is_new] =
          units_.emplace(key, static_cast<std::uint32_t>(found_.units.size()));
      if (is_new) found_.units.emplace_back();
      index = known->second;
    }
    Unit& unit = found_.units[index];
    unit.step = number;
    const std::size_t ranks = operations_.ranks.size();
    for (auto* values : {&unit.late_ns, &unit.most_ns, &unit.own_ns, &unit.wait_ns})
      values->resize(ranks, 0);
    return unit;
  }

  void add(std::uint32_t at) {
    const Measure& one = measures_[at];
    const Collective& collective = matching_.collectives[at];
    std::uint32_t index = 0;
    Unit& unit = unit_of(collective.members[0], index);
    ++unit.collectives;
    std::vector<double> begins, own, in_group, ends;
    auto member = collective.members.begin();  // both are by rank, and arrivals are of members
    for (const Arrival& arrival : one.arrivals) {
      while (member->rank != arrival.rank) ++member;
      begins.push_back(arrival.begin_ns);
      ends.push_back(arrival.end_ns);
      own.push_back(found_.own_ns[arrival.rank][member->at]);
      in_group.push_back(own_in_group_[arrival.rank][member->at]);
    }
    const std::vector<double> others_begin = medians_of_others(begins);
    const std::vector<double> others_own = medians_of_others(own);
    const std::vector<double> others_in_group = medians_of_others(in_group);
    // All leave together: of two ends the earlier one is right, if one of them is absurd.
    const double left = quantile(ends, 0.5 - 0.5 / static_cast<double>(ends.size()));
    unit.end_ns = std::max({unit.end_ns, left, one.last_begin_ns});
    const auto known = [](double x) { return x >= 0; };
    const bool all_known = std::all_of(own.begin(), own.end(), known);
    const bool group_known = std::all_of(in_group.begin(), in_group.end(), known);
    for (std::size_t i = 0; i < one.arrivals.size(); ++i) {
      const std::uint32_t rank = one.arrivals[i].rank;
      unit.wait_ns[rank] += one.arrivals[i].wait_ns;
      if (!all_known) continue;  // ranks start to record at different times: nobody is late yet
      unit.own_ns[rank] += own[i];
      double late = agreed(begins[i] - others_begin[i], own[i] - others_own[i]);
      if (group_known) late = agreed(late, in_group[i] - others_in_group[i]);
      unit.late_ns[rank] += late;
      unit.most_ns[rank] = std::max(unit.most_ns[rank], late);
      const auto position = static_cast<std::uint32_t>(unit.collectives - 1);
      if (late > 0) found_.cases[rank].push_back({at, index, position, late});
    }
  }

  void finish() {
    double before = -1;
    std::vector<double> lengths;
    for (Unit& unit : found_.units) {
      if (before >= 0 && unit.end_ns > before) {
        unit.length_ns = unit.end_ns - before;
        lengths.push_back(unit.length_ns);
      }
      before = std::max(before, unit.end_ns);
    }
    found_.unit_ns = median(lengths);
    std::vector<double> singles;
    for (const Unit& unit : found_.units) {
      singles.insert(singles.end(), unit.most_ns.begin(), unit.most_ns.end());
    }
    found_.single_ns = median(singles);
    std::vector<double> spreads;
    for (std::size_t rank = 0; rank < operations_.ranks.size(); ++rank) {
      std::vector<double> late;
      for (const Unit& unit : found_.units) late.push_back(unit.late_ns[rank]);
      const double centre = median(late);
      spreads.push_back(operations_.ranks.size() > 2 ? spread_about(std::move(late), centre)
                                                     : core_spread(std::move(late)));
    }
    found_.spread_ns = median(spreads);
  }

  const Chains& chains_;
  const Operations& operations_;
  const Matching& matching_;
  const std::vector<Measure>& measures_;
  Lateness found_;
  std::vector<std::vector<double>> own_in_group_;  // by rank and place in its list
  std::vector<std::vector<std::pair<std::int64_t, std::uint32_t>>> steps_of_source_;  // by begin
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> units_;
};

}  // namespace

Lateness find_lateness(const Chains& chains, const Operations& operations, const Matching& matching,
                       const std::vector<Measure>& measures) {
  return Finder(chains, operations, matching, measures).run();
}

}  // namespace teller::horizontal_detail
