#include "horizontal/match_shift.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "horizontal/middle.h"

namespace teller::horizontal_detail {

namespace {

// Shifts of so many operations are all judged, and taken if plainly better; others have to be much
// better, and meet in enough operations.
constexpr std::ptrdiff_t kNear = 16;
constexpr double kPlainly = 0.5;
constexpr double kMuch = 0.2;
constexpr std::ptrdiff_t kLeastMeeting = 3;
constexpr std::ptrdiff_t kLeastMeetingFar = 12;
// Pairs that a shift is judged by; at first, and then.
constexpr std::ptrdiff_t kRoughSamples = 24;
constexpr std::ptrdiff_t kSamples = 512;
constexpr std::size_t kMostCandidates = 16;
// Of so many pairs a half shows how clocks drift; by more than this none does.
constexpr std::size_t kLeastForDrift = 4;
constexpr double kMostDrift = 2e-3;
// So many calls in a row are looked up.
constexpr std::size_t kGram = 4;
constexpr std::size_t kLeastVotes = 3;
constexpr double kLeastAgreement = 0.9;
// A shift that scatters less than so much more is a rival.
constexpr double kRival = 2;
constexpr double kRivalFloorNs = 1000;
// How much closer the clocks have to be at one place than at all others.
constexpr double kCloserOnOneHost = 2;
constexpr double kCloser = 4;
// Clocks of different hosts that are kept in time agree so well.
constexpr double kKeptInTimeNs = 20e6;

struct Fit {
  std::ptrdiff_t by = 0;
  double scatter = -1;  // mean distance of the differences of ends from their line, ns; -1 unknown
  double centre = 0;    // their median
};

class ShiftFinder {
 public:
  ShiftFinder(const Sequence& reference, const Sequence& sequence, bool same_host)
      : reference_(reference),
        sequence_(sequence),
        size_(static_cast<std::ptrdiff_t>(reference.ends.size())),
        count_(static_cast<std::ptrdiff_t>(sequence.ends.size())),
        same_host_(same_host) {}

  Shift find() {
    if (count_ == 0 || size_ == 0) return {};
    Fit best = fit(0, kSamples);
    if (!meets_half(0)) best.scatter = -1;
    take_near(best);
    if (!is_decisive(best)) take_far(best);
    if (best.scatter < 0) return {0, ShiftBy::kTimes, agreement(0)};
    return decide(best);
  }

 private:
  std::ptrdiff_t meeting(std::ptrdiff_t by) const {
    return std::min(count_, size_ - by) - std::max<std::ptrdiff_t>(0, -by);
  }
  bool meets_half(std::ptrdiff_t by) const {
    return meeting(by) >= kLeastMeeting && 2 * meeting(by) >= std::min(count_, size_);
  }
  bool meets_enough(std::ptrdiff_t by) const {
    return meeting(by) >= std::max(kLeastMeetingFar, std::min(count_, size_) / 8);
  }

  // The mean distance: with few pairs the median one is 0 too easily.
  Fit fit(std::ptrdiff_t by, std::ptrdiff_t samples) const {
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, -by);
    const std::ptrdiff_t to = std::min(count_, size_ - by);
    if (to - from < kLeastMeeting) return {by, -1, 0};
    const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(1, (to - from) / samples);
    std::vector<double> differences;
    for (std::ptrdiff_t i = from; i < to; i += stride) differences.push_back(apart(i, by));
    const double centre = median(differences);
    const double length =
        static_cast<double>(reference_.ends[static_cast<std::size_t>(to - 1 + by)] -
                            reference_.ends[static_cast<std::size_t>(from + by)]);
    straighten(differences, length);
    const double middle = median(differences);
    double sum = 0;
    for (const double difference : differences) sum += std::abs(difference - middle);
    return {by, sum / static_cast<double>(differences.size()), centre};
  }

  double apart(std::ptrdiff_t i, std::ptrdiff_t by) const {
    return static_cast<double>(sequence_.ends[static_cast<std::size_t>(i)] -
                               reference_.ends[static_cast<std::size_t>(i + by)]);
  }

  // Takes out what clocks that drift, as clocks do, add from the first half to the second.
  static void straighten(std::vector<double>& differences, double length_ns) {
    const std::size_t half = differences.size() / 2;
    if (half < kLeastForDrift || length_ns <= 0) return;
    const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(half);
    const double most = kMostDrift * length_ns / 2;
    const double rise = std::clamp(
        median({middle, differences.end()}) - median({differences.begin(), middle}), -most, most);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      differences[i] -= rise * static_cast<double>(i) / static_cast<double>(half);
    }
  }

  double agreement(std::ptrdiff_t by) const {
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, -by);
    const std::ptrdiff_t to = std::min(count_, size_ - by);
    if (to <= from) return 0;
    const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(1, (to - from) / kSamples);
    std::ptrdiff_t equal = 0, all = 0;
    for (std::ptrdiff_t i = from; i < to; i += stride, ++all) {
      equal += sequence_.calls[static_cast<std::size_t>(i)] ==
                       reference_.calls[static_cast<std::size_t>(i + by)]
                   ? 1
                   : 0;
    }
    return static_cast<double>(equal) / static_cast<double>(all);
  }

  // Of equals the smallest.
  void take_near(Fit& best) {
    if (best.scatter >= 0) {
      if (agreement(0) < kLeastAgreement) {
        best.scatter = -1;
      } else {
        fits_.push_back(best);
      }
    }
    for (std::ptrdiff_t by = 1; by <= kNear; ++by) {
      for (const std::ptrdiff_t shift : {by, -by}) {
        if (!meets_half(shift) || agreement(shift) < kLeastAgreement) continue;
        const Fit found = fit(shift, kSamples);
        fits_.push_back(found);
        if (best.scatter < 0 || found.scatter < kPlainly * best.scatter) best = found;
      }
    }
  }

  // Sequences of one length that fit plainly best at a near place, where the clocks lie together
  // too: no far one has to be looked for. Without the clocks it might be a whole step away.
  bool is_decisive(const Fit& best) const {
    if (size_ != count_ || best.scatter < 0) return false;
    if (std::abs(by_clocks() - best.by) > kNear) return false;
    return std::all_of(fits_.begin(), fits_.end(), [&](const Fit& one) {
      return one.by == best.by || one.scatter < 0 ||
             one.scatter > best.scatter / kMuch + kRivalFloorNs;
    });
  }

  void take_far(Fit& best) {
    for (const std::ptrdiff_t by : candidates()) {
      const bool judged =
          std::any_of(fits_.begin(), fits_.end(), [&](const Fit& one) { return one.by == by; });
      if (judged || !meets_enough(by) || agreement(by) < kLeastAgreement) continue;
      const Fit found = fit(by, kSamples);
      fits_.push_back(found);
      if (best.scatter < 0 || found.scatter < kMuch * best.scatter) best = found;
    }
  }

  // Those that fit best by some pairs, those that the calls tell, and that at which clocks agree.
  std::vector<std::ptrdiff_t> candidates() const {
    std::vector<Fit> rough;
    for (std::ptrdiff_t by = 1 - count_; by < size_; ++by) {
      if (meets_enough(by)) rough.push_back(fit(by, kRoughSamples));
    }
    const std::size_t kept = std::min(rough.size(), kMostCandidates);
    std::partial_sort(rough.begin(), rough.begin() + static_cast<std::ptrdiff_t>(kept), rough.end(),
                      [](const Fit& a, const Fit& b) {
                        if (a.scatter != b.scatter) return a.scatter < b.scatter;
                        return std::pair(std::abs(a.by), a.by) < std::pair(std::abs(b.by), b.by);
                      });
    std::vector<std::ptrdiff_t> list;
    for (std::size_t i = 0; i < kept; ++i) list.push_back(rough[i].by);
    if (const auto by = by_calls()) list.push_back(*by);
    const std::ptrdiff_t clocks = by_clocks();
    for (const std::ptrdiff_t by : {clocks - 1, clocks, clocks + 1}) list.push_back(by);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  // Where the middle of the sequence lies in the reference, if both clocks are right. Operations
  // overlap: ends are not in order.
  std::ptrdiff_t by_clocks() const {
    const std::ptrdiff_t middle = count_ / 2;
    const std::int64_t end = sequence_.ends[static_cast<std::size_t>(middle)];
    return std::count_if(reference_.ends.begin(), reference_.ends.end(),
                         [end](std::int64_t one) { return one < end; }) -
           middle;
  }

  using Places = std::unordered_map<std::uint64_t, std::ptrdiff_t>;

  // Calls in a row that occur once; -1 for those that occur again.
  static Places rows_of(const std::vector<std::uint64_t>& calls) {
    Places places;
    for (std::size_t i = 0; i + kGram <= calls.size(); ++i) {
      std::uint64_t hash = 0xcbf29ce484222325ull;
      for (std::size_t k = 0; k < kGram; ++k) {
        hash = (hash ^ calls[i + k]) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 29;
      }
      const auto [known, is_new] = places.emplace(hash, static_cast<std::ptrdiff_t>(i));
      if (!is_new) known->second = -1;
    }
    return places;
  }

  // The shift that most rows of calls that occur once in both agree on.
  std::optional<std::ptrdiff_t> by_calls() const {
    const Places theirs = rows_of(reference_.calls);
    std::unordered_map<std::ptrdiff_t, std::size_t> votes;
    for (const auto& [row, place] : rows_of(sequence_.calls)) {
      const auto found = theirs.find(row);
      if (place >= 0 && found != theirs.end() && found->second >= 0) ++votes[found->second - place];
    }
    std::optional<std::ptrdiff_t> best;
    std::size_t most = kLeastVotes - 1;
    for (const auto& [by, count] : votes) {
      if (count < most || (count == most && (!best || by > *best))) continue;
      most = count;
      best = by;
    }
    return best;
  }

  // Times decide where no other place fits about as well; else clocks that all but agree at one.
  Shift decide(const Fit& best) const {
    const double rival = kRival * best.scatter + kRivalFloorNs;
    Fit closest = best;
    double second = -1;
    for (const Fit& one : fits_) {
      if (one.by == best.by || one.scatter < 0 || one.scatter > rival) continue;
      const bool closer = std::abs(one.centre) < std::abs(closest.centre);
      const double other = std::abs(closer ? closest.centre : one.centre);
      if (second < 0 || other < second) second = other;
      if (closer) closest = one;
    }
    if (second < 0) return {best.by, ShiftBy::kTimes, agreement(best.by)};
    if (are_believed(closest.centre, second)) {
      return {closest.by, ShiftBy::kClocks, agreement(closest.by)};
    }
    return {best.by, ShiftBy::kAmbiguous, agreement(best.by)};
  }

  // Ranks of different hosts whose sequences are equally long began together, more likely than
  // that their clocks agree.
  bool are_believed(double closest_ns, double second_ns) const {
    const double apart = std::abs(closest_ns);
    if (same_host_) return kCloserOnOneHost * apart < second_ns;
    return count_ != size_ && apart < kKeptInTimeNs && kCloser * apart < second_ns;
  }

  const Sequence& reference_;
  const Sequence& sequence_;
  std::ptrdiff_t size_, count_;
  bool same_host_;
  std::vector<Fit> fits_;  // of shifts at which the calls agree
};

}  // namespace

Shift find_shift(const Sequence& reference, const Sequence& sequence, bool same_host) {
  return ShiftFinder(reference, sequence, same_host).find();
}

}  // namespace teller::horizontal_detail
