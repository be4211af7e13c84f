#include "horizontal/match.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "horizontal/facts.h"
#include "horizontal/match_shift.h"

namespace teller::horizontal_detail {

namespace {

// A number so far below the newest one, or a first one after so many, begins anew.
constexpr std::int64_t kOutOfOrder = 64;
constexpr std::int64_t kLeastBefore = 8;
// The part of a group's calls that have to be the same on two ranks for their order to tell.
constexpr double kLeastAgreement = 0.9;

using Stream = std::vector<Member>;  // of one rank, by begin
using Streams = std::map<std::uint32_t, Stream>;
using StreamKey = std::tuple<std::uint32_t, std::uint32_t, std::int64_t>;  // group, wire, bytes

class Matcher {
 public:
  explicit Matcher(const Operations& operations) : operations_(operations) {}

  Matching run() {
    find_numbered();
    find_unsized();
    collect();
    match_sequences();
    for (auto group = streams_.cbegin(); group != streams_.cend();) group = match_group(group);
    for (const auto& [key, streams] : pairs_) match_order(streams, {});
    sort();
    return std::move(result_);
  }

 private:
  // Numbers of one rank in one group.
  struct Numbers {
    std::vector<std::int64_t> list;
    std::size_t without = 0;            // operations that have none
    std::int64_t newest = -1;           // since they began anew
    std::int64_t since = 0;             // so many numbers since then
    std::uint32_t epoch = 0;            // how often they did
    std::vector<std::size_t> in_epoch;  // places of the operations of this numbering
  };

  // Groups whose numbers tell operations apart. Gloo writes one number for all; and where a rank
  // has none for most, or ranks began anew differently often, numbers would match what does not
  // belong together: order has to do there.
  void find_numbered() {
    std::map<std::uint32_t, std::vector<std::uint32_t>> epochs;  // group -> of each rank
    for (std::uint32_t rank = 0; rank < operations_.ranks.size(); ++rank) {
      for (auto& [group, numbers] : numbers_of(rank)) {
        const std::size_t all = numbers.list.size();
        if (all > 0) result_.restarts += numbers.epoch;
        any_numbered_.insert({group, all > 0});
        std::sort(numbers.list.begin(), numbers.list.end());
        numbers.list.erase(std::unique(numbers.list.begin(), numbers.list.end()),
                           numbers.list.end());
        const std::size_t told = numbers.list.size();
        const bool told_apart =
            (all == 1 || (told > 1 && 2 * told >= all)) && numbers.without <= all;
        const auto [known, is_new] = numbered_.emplace(group, told_apart);
        if (!is_new) known->second = known->second && told_apart;
        epochs[group].push_back(numbers.epoch);
      }
    }
    for (auto& [group, counts] : epochs) {
      const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
      const bool uneven = *least != *most && numbered_[group];
      if (uneven) numbered_[group] = false;
      const bool both =
          any_numbered_.contains({group, true}) && any_numbered_.contains({group, false});
      if (uneven || both) ++result_.mixed_groups;
    }
  }

  // A few old numbers at the end are no new numbering: their times are wrong.
  void end_numbering(Numbers& numbers) {
    if (numbers.epoch == 0 || numbers.since >= kLeastBefore) return;
    for (const std::size_t at : numbers.in_epoch) --epoch_of_.back()[at];
    --numbers.epoch;
  }

  std::map<std::uint32_t, Numbers> numbers_of(std::uint32_t rank) {
    std::map<std::uint32_t, Numbers> all;
    const auto& list = operations_.ranks[rank].list;
    epoch_of_.emplace_back(list.size(), 0);
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (is_transfer_of_two(list[at])) continue;
      Numbers& numbers = all[list[at].group];
      if (list[at].sequence < 0) {
        ++numbers.without;
        continue;
      }
      numbers.list.push_back(list[at].sequence);
      // Streams run beside each other: a number may come a few places late.
      if (list[at].sequence + kOutOfOrder < numbers.newest ||
          (list[at].sequence <= 1 && numbers.newest >= kLeastBefore)) {
        // A few that stand before all others have a wrong time.
        if (numbers.since >= kLeastBefore) {
          ++numbers.epoch;
          numbers.in_epoch.clear();
        }
        numbers.newest = -1;
        numbers.since = 0;
      }
      ++numbers.since;
      numbers.in_epoch.push_back(at);
      numbers.newest = std::max(numbers.newest, list[at].sequence);
      epoch_of_.back()[at] = numbers.epoch;
    }
    for (auto& [group, numbers] : all) end_numbering(numbers);
    return all;
  }

  // Kernels that were launched before the recording began do not say their size, and ranks send and
  // get what they have in an all-to-all: then the order of all kernels of that name must do.
  void find_unsized() {
    for (const RankOperations& rank : operations_.ranks) {
      for (const Operation& one : rank.list) {
        const bool sized = one.bytes >= 0 && !has_many_sizes(operations_.texts.view(one.operation));
        if (!sized) unsized_.insert({one.group, one.wire});
      }
    }
  }

  void collect() {
    for (std::uint32_t rank = 0; rank < operations_.ranks.size(); ++rank) {
      const auto& list = operations_.ranks[rank].list;
      for (std::uint32_t at = 0; at < list.size(); ++at) {
        std::vector<std::uint32_t>& users = users_[list[at].group];
        if (users.empty() || users.back() != rank) users.push_back(rank);
      }
    }
    for (std::uint32_t rank = 0; rank < operations_.ranks.size(); ++rank) {
      const auto& list = operations_.ranks[rank].list;
      for (std::uint32_t at = 0; at < list.size(); ++at) add({rank, at}, list[at]);
    }
  }

  // What ranks that are not its two ends have no part in, whatever their own counts say.
  bool is_transfer_of_two(const Operation& one) const {
    return one.has_peers() || is_point_to_point(operations_.texts.view(one.operation));
  }

  void add(const Member& member, const Operation& one) {
    if (one.has_peers()) {
      // Each rank counts its own transfers, whoever they are with. Those of a pair meet in order.
      pairs_[{one.group, one.from, one.to}][member.rank].push_back(member);
      return;
    }
    if (is_transfer_of_two(one)) {
      Collective alone;
      alone.members.push_back(member);
      add_collective(std::move(alone));
      return;
    }
    const auto numbered = numbered_.find(one.group);
    if (one.sequence >= 0 && numbered != numbered_.end() && numbered->second) {
      const std::uint32_t epoch = epoch_of_[member.rank][member.at];
      numbered_list_.push_back({one.group, epoch, one.sequence, member});
      return;
    }
    const bool sized = unsized_.count({one.group, one.wire}) == 0;
    streams_[{one.group, one.wire, sized ? one.bytes : -1}][member.rank].push_back(member);
  }

  struct Numbered {
    std::uint32_t group = 0;
    std::uint32_t epoch = 0;
    std::int64_t sequence = 0;
    Member member;
    auto key() const { return std::tie(group, epoch, sequence); }
    bool operator<(const Numbered& other) const {
      if (key() != other.key()) return key() < other.key();
      return std::tie(member.rank, member.at) < std::tie(other.member.rank, other.member.at);
    }
  };

  void match_sequences() {
    std::sort(numbered_list_.begin(), numbered_list_.end());
    for (std::size_t begin = 0; begin < numbered_list_.size();) {
      std::size_t end = begin + 1;
      while (end < numbered_list_.size() &&
             numbered_list_[end].key() == numbered_list_[begin].key()) {
        ++end;
      }
      take_numbered(begin, end);
      begin = end;
    }
  }

  // A rank that has a number several times: coalesced operations, or a record that is there twice.
  // The first ones belong together, then the second ones.
  void take_numbered(std::size_t begin, std::size_t end) {
    std::vector<Collective> made;
    std::size_t nth = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Member& member = numbered_list_[i].member;
      nth = i > begin && numbered_list_[i - 1].member.rank == member.rank ? nth + 1 : 0;
      if (nth == made.size()) made.emplace_back();
      if (nth > 0) ++result_.duplicates;
      made[nth].by_sequence = true;
      made[nth].members.push_back(member);
    }
    for (Collective& one : made) add_collective(std::move(one));
  }

  const Operation& operation(const Member& member) const {
    return operations_.ranks[member.rank].list[member.at];
  }

  using GroupStreams = std::map<StreamKey, Streams>;
  // By stream and rank: how far a rank's stream is shifted against the reference's.
  using Shifts = std::map<std::uint32_t, std::ptrdiff_t>;

  // All operations of one rank in a group, each with its stream and its place there.
  struct Timeline {
    struct Item {
      Member member;
      std::uint32_t stream = 0;
      std::ptrdiff_t place = 0;
    };
    std::vector<Item> items;  // in the rank's order
    Sequence sequence;
  };

  // What several kinds of calls tell together, one alone may not: the streams of a group are placed
  // by the group's whole sequence where it is the same on all ranks. Returns the next group.
  GroupStreams::const_iterator match_group(GroupStreams::const_iterator first) {
    auto end = first;
    while (end != streams_.end() && std::get<0>(end->first) == std::get<0>(first->first)) ++end;
    std::map<std::uint32_t, Timeline> timelines = timelines_of(first, end);
    const Timeline* reference = nullptr;
    std::uint32_t base = 0;
    for (const auto& [rank, timeline] : timelines) {
      if (reference != nullptr && timeline.items.size() <= reference->items.size()) continue;
      reference = &timeline;
      base = rank;
    }
    std::vector<Shifts> shifts(static_cast<std::size_t>(std::distance(first, end)));
    for (const auto& [rank, timeline] : timelines) {
      if (&timeline == reference) {
        for (Shifts& stream : shifts) stream[rank] = 0;
        continue;
      }
      const Shift found =
          find_shift(reference->sequence, timeline.sequence, on_one_host(base, rank));
      if (found.agreement < kLeastAgreement) continue;
      count(found);
      place_streams(*reference, rank, timeline, found.by, shifts);
    }
    for (std::size_t i = 0; first != end; ++first, ++i) match_order(first->second, shifts[i]);
    return end;
  }

  std::map<std::uint32_t, Timeline> timelines_of(GroupStreams::const_iterator first,
                                                 GroupStreams::const_iterator end) const {
    std::map<std::uint32_t, Timeline> timelines;
    std::uint32_t number = 0;
    for (; first != end; ++first, ++number) {
      for (const auto& [rank, stream] : first->second) {
        std::ptrdiff_t place = 0;
        for (const Member& member : stream) {
          timelines[rank].items.push_back({member, number, place++});
        }
      }
    }
    for (auto& [rank, timeline] : timelines) {
      std::sort(timeline.items.begin(), timeline.items.end(),
                [](const auto& a, const auto& b) { return a.member.at < b.member.at; });
      for (const auto& item : timeline.items) {
        timeline.sequence.ends.push_back(operation(item.member).end_ns);
        timeline.sequence.calls.push_back(item.stream);
      }
    }
    return timelines;
  }

  // The shift of each stream is the commonest among its operations that meet: one that is missing
  // in the middle moves those behind it alone.
  static void place_streams(const Timeline& reference, std::uint32_t rank, const Timeline& timeline,
                            std::ptrdiff_t by, std::vector<Shifts>& shifts) {
    std::vector<std::map<std::ptrdiff_t, std::size_t>> votes(shifts.size());
    const auto size = static_cast<std::ptrdiff_t>(reference.items.size());
    for (std::size_t i = 0; i < timeline.items.size(); ++i) {
      const std::ptrdiff_t there = static_cast<std::ptrdiff_t>(i) + by;
      if (there < 0 || there >= size) continue;
      const auto& theirs = reference.items[static_cast<std::size_t>(there)];
      const auto& ours = timeline.items[i];
      if (ours.stream == theirs.stream) ++votes[ours.stream][theirs.place - ours.place];
    }
    for (std::size_t stream = 0; stream < votes.size(); ++stream) {
      const auto most =
          std::max_element(votes[stream].begin(), votes[stream].end(),
                           [](const auto& a, const auto& b) { return a.second < b.second; });
      if (most != votes[stream].end()) shifts[stream][rank] = most->first;
    }
  }

  bool on_one_host(std::uint32_t one, std::uint32_t other) const {
    const std::string& host = operations_.ranks[one].host;
    return !host.empty() && host == operations_.ranks[other].host;
  }

  void count(const Shift& shift) {
    if (shift.how == ShiftBy::kClocks) ++result_.by_clocks;
    if (shift.how == ShiftBy::kAmbiguous) ++result_.ambiguous;
  }

  // `known` shifts are against one rank; where there is none, against the longest stream.
  void match_order(const Streams& streams, const Shifts& known) {
    const std::pair<const std::uint32_t, Stream>* reference = nullptr;
    for (const auto& one : streams) {
      if (!known.empty() && !known.contains(one.first)) continue;
      if (reference == nullptr || one.second.size() > reference->second.size()) reference = &one;
    }
    if (reference == nullptr) reference = &*streams.begin();
    std::map<std::ptrdiff_t, Collective> made;  // by place in the reference
    const auto base = known.find(reference->first);
    for (const auto& [rank, stream] : streams) {
      const auto told = known.find(rank);
      std::ptrdiff_t shift = base == known.end() ? 0 : base->second;
      shift = told != known.end() ? told->second : shift + shift_of(*reference, rank, stream);
      for (std::size_t i = 0; i < stream.size(); ++i) {
        made[static_cast<std::ptrdiff_t>(i) + shift].members.push_back(stream[i]);
      }
    }
    for (auto& [place, one] : made) add_collective(std::move(one));
  }

  std::ptrdiff_t shift_of(const std::pair<const std::uint32_t, Stream>& reference,
                          std::uint32_t rank, const Stream& stream) {
    if (rank == reference.first) return 0;
    const Shift found = find_shift(sequence_of(reference.second), sequence_of(stream),
                                   on_one_host(reference.first, rank));
    count(found);
    return found.by;
  }

  Sequence sequence_of(const Stream& stream) const {
    Sequence sequence;
    for (const Member& member : stream) sequence.ends.push_back(operation(member).end_ns);
    sequence.calls.assign(stream.size(), 0);
    return sequence;
  }

  void add_collective(Collective one) {
    one.shown = one.members[0];
    for (const Member& member : one.members) {
      if (operation(one.shown).bytes < 0 && operation(member).bytes >= 0) one.shown = member;
    }
    const Operation& first = operation(one.shown);
    if (one.by_sequence) one.mismatched = calls_differ(first, one);
    if (!is_transfer_of_two(first)) find_absent(first, one);
    result_.collectives.push_back(std::move(one));
  }

  bool calls_differ(const Operation& first, const Collective& one) const {
    return std::any_of(one.members.begin(), one.members.end(), [&](const Member& member) {
      return are_different_calls(operations_.texts, first, operation(member));
    });
  }

  void find_absent(const Operation& first, Collective& one) {
    const std::vector<std::uint32_t>& expected = expected_ranks(first.group);
    std::size_t at = 0;
    for (const std::uint32_t rank : expected) {
      while (at < one.members.size() && one.members[at].rank < rank) ++at;
      if (at == one.members.size() || one.members[at].rank != rank) one.absent.push_back(rank);
    }
  }

  // Recorded ranks that belong to a group: those that its name lists, else those that use it.
  const std::vector<std::uint32_t>& expected_ranks(std::uint32_t group) {
    const auto [known, is_new] = expected_.try_emplace(group);
    if (!is_new) return known->second;
    const std::vector<int>& listed = operations_.group_ranks[group];
    if (listed.empty()) return known->second = users_[group];
    for (std::uint32_t rank = 0; rank < operations_.ranks.size(); ++rank) {
      const bool belongs =
          std::binary_search(listed.begin(), listed.end(), operations_.ranks[rank].rank);
      if (belongs) known->second.push_back(rank);
    }
    return known->second;
  }

  void sort() {
    std::stable_sort(result_.collectives.begin(), result_.collectives.end(),
                     [this](const Collective& a, const Collective& b) {
                       const Operation& left = operation(a.members[0]);
                       const Operation& right = operation(b.members[0]);
                       return std::tie(left.begin_ns, left.node) <
                              std::tie(right.begin_ns, right.node);
                     });
  }

  const Operations& operations_;
  Matching result_;
  std::map<std::uint32_t, bool> numbered_;  // group -> its numbers tell operations apart
  std::set<std::pair<std::uint32_t, bool>>
      any_numbered_;                                  // group, a rank of it has numbers or none
  std::vector<std::vector<std::uint32_t>> epoch_of_;  // by rank and place: which numbering
  std::vector<Numbered> numbered_list_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> unsized_;  // (group, wire)
  // (group, wire, bytes) -> by rank
  std::map<StreamKey, Streams> streams_;
  // (group, from, to) -> by rank: sends of the one, receives of the other
  std::map<std::tuple<std::uint32_t, std::int32_t, std::int32_t>, Streams> pairs_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> expected_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> users_;  // group -> ranks that use it
};

}  // namespace

bool are_different_calls(const Interner& texts, const Operation& one, const Operation& other) {
  if (one.operation != other.operation) {
    // What only its kernel names may be any call that runs as this kernel.
    const bool by_kernel = one.operation == one.wire || other.operation == other.wire;
    return !by_kernel || one.wire != other.wire;
  }
  const bool sized = one.size_is_sure && other.size_is_sure;
  return sized && has_one_size(texts.view(one.operation)) && one.bytes != other.bytes;
}

Matching match(const Operations& operations) {
  return Matcher(operations).run();
}

}  // namespace teller::horizontal_detail
