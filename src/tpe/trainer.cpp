#include "tpe/trainer.h"

#include <algorithm>
#include <queue>

#include "tpe/pair_map.h"

namespace teller::tpe {

namespace {

// A pair and where it was seen. `count` is exact, except that overlapping occurrences of a pair of
// equal ids count each; exact_count() puts that right.
struct Pair {
  Id left = 0;
  Id right = 0;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> places;  // first cells, ascending; some may be stale
};

// Places of a pair lie far apart: the one that comes this many later is fetched in advance.
constexpr std::size_t kAhead = 16;

struct Candidate {
  std::uint64_t count = 0;
  std::uint32_t key = 0;
  std::uint32_t pair = 0;
  bool operator<(const Candidate& other) const {  // the largest comes first
    return count != other.count ? count < other.count : key > other.key;
  }
};

// What one merge does to the pairs on one side of it, per neighbouring id.
struct Side {
  std::vector<std::uint32_t> lost;                        // occurrences of the old pair
  std::vector<std::uint32_t> won;                         // occurrences of the new one
  std::vector<std::pair<Id, std::uint32_t>> occurrences;  // neighbour, first cell
  std::vector<Id> touched;

  explicit Side(std::size_t ids) : lost(ids), won(ids) {}
  void add(Id neighbour, std::size_t cell) {
    if (lost[neighbour]++ == 0) touched.push_back(neighbour);
    ++won[neighbour];
    occurrences.emplace_back(neighbour, static_cast<std::uint32_t>(cell));
  }
  void clear() {
    for (const Id id : touched) lost[id] = won[id] = 0;
    touched.clear();
    occurrences.clear();
  }
};

class Trainer {
 public:
  Trainer(Cells cells, std::uint32_t first_merge, std::uint32_t max_merges)
      : cells_(std::move(cells)),
        max_merges_(max_merges),
        lengths_(first_merge, 1),
        before_(std::size_t{first_merge} + max_merges),
        after_(std::size_t{first_merge} + max_merges) {}

  Learnt run() {
    count_pairs();
    Learnt learnt;
    while (learnt.merges.size() < max_merges_) {
      const std::uint32_t best = pop_best();
      if (best == PairMap::kNone) break;
      learnt.merges.push_back({pairs_[best].left, pairs_[best].right});
      learnt.joined += apply(best);
    }
    return learnt;
  }

 private:
  static bool takes_part(Id id) { return id != kBarrier && id >= kSpecialCount; }

  std::uint32_t pair_of(Id left, Id right) {
    const std::uint32_t found = index_.find(left, right);
    if (found != PairMap::kNone) return found;
    const auto number = static_cast<std::uint32_t>(pairs_.size());
    pairs_.push_back({left, right, 0, {}});
    index_.insert(left, right, number);
    return number;
  }

  // Notes every pair of the corpus: counts first, so that each list is allocated once.
  void count_pairs() {
    const auto each = [&](auto&& visit) {
      for (std::size_t i = 1; i + 2 < cells_.size(); ++i) {
        if (takes_part(cells_[i]) && takes_part(cells_[i + 1])) visit(i);
      }
    };
    each([&](std::size_t i) { ++pairs_[pair_of(cells_[i], cells_[i + 1])].count; });
    for (Pair& pair : pairs_) {
      if (pair.count >= 2) pair.places.reserve(pair.count);
    }
    each([&](std::size_t i) {
      Pair& pair = pairs_[index_.find(cells_[i], cells_[i + 1])];
      if (pair.count >= 2) pair.places.push_back(static_cast<std::uint32_t>(i));
    });
    for (std::uint32_t i = 0; i < pairs_.size(); ++i) offer(i, pairs_[i].count);
  }

  void offer(std::uint32_t pair, std::uint64_t count) {
    if (count < 2) return;
    queue_.push({count, pair_key(pairs_[pair].left, pairs_[pair].right), pair});
  }

  bool is_at(const Pair& pair, std::size_t cell) const {
    return cells_[cell] == pair.left && cells_[cell + lengths_[pair.left]] == pair.right;
  }

  std::uint64_t exact_count(const Pair& pair) const {
    if (pair.left != pair.right) return pair.count;
    std::uint64_t count = 0, free_from = 0;
    for (const std::uint32_t cell : pair.places) {
      if (cell < free_from || !is_at(pair, cell)) continue;
      ++count;
      free_from = cell + 2 * std::uint64_t{lengths_[pair.left]};
    }
    return count;
  }

  // The most frequent pair. Counts only fall once a pair is known, so what the queue holds is never
  // too small: a candidate whose count is out of date goes back with the true one.
  std::uint32_t pop_best() {
    while (!queue_.empty()) {
      const Candidate top = queue_.top();
      queue_.pop();
      const std::uint64_t count = exact_count(pairs_[top.pair]);
      if (count == top.count) return top.pair;
      offer(top.pair, count);
    }
    return PairMap::kNone;
  }

  // Merges a pair wherever it stands; the number of places.
  std::uint64_t apply(std::uint32_t number) {
    std::uint64_t joined = 0;
    Pair& pair = pairs_[number];
    const auto [left, right] = Merge{pair.left, pair.right};
    const auto merged = static_cast<Id>(lengths_.size());
    const std::uint32_t left_length = lengths_[left], right_length = lengths_[right];
    lengths_.push_back(left_length + right_length);
    const std::vector<std::uint32_t>& places = pair.places;
    for (std::size_t i = 0; i < places.size(); ++i) {
      __builtin_prefetch(&cells_[places[std::min(i + kAhead, places.size() - 1)]]);
      const std::uint32_t first = places[i];
      if (!is_at(pair, first)) continue;
      const std::size_t middle = std::size_t{first} + left_length, end = middle + right_length;
      lay_token(cells_, first, middle, end, merged);
      ++joined;
      const Id before = cells_[std::size_t{first} - 1], after = cells_[end];
      if (takes_part(before)) before_.add(before, first - lengths_[before]);
      if (takes_part(after)) after_.add(after, first);
    }
    pair.places = {};
    pair.count = 0;
    settle(left, right, merged);
    return joined;
  }

  // Brings the counts up to date. Where merged tokens follow each other, the pair (merged, left)
  // was won on the right side of the first and lost on the left side of the second.
  void settle(Id left, Id right, Id merged) {
    after_.won[left] -= before_.lost[merged];
    for (const Id id : before_.touched) {
      if (id != merged) lose(id, left, before_.lost[id]);
    }
    for (const Id id : after_.touched) lose(right, id, after_.lost[id]);
    for (const Id id : before_.touched) win(id, merged, before_.won[id]);
    for (const Id id : after_.touched) win(merged, id, after_.won[id]);
    for (const auto& [id, cell] : before_.occurrences) put(before_.won, id, id, merged, cell);
    for (const auto& [id, cell] : after_.occurrences) put(after_.won, id, merged, id, cell);
    before_.clear();
    after_.clear();
  }

  void lose(Id left, Id right, std::uint32_t count) {
    const std::uint32_t found = index_.find(left, right);
    if (found == PairMap::kNone) return;
    Pair& pair = pairs_[found];
    pair.count -= std::min<std::uint64_t>(pair.count, count);
  }
  void win(Id left, Id right, std::uint32_t count) {
    if (count < 2) return;
    const std::uint32_t number = pair_of(left, right);
    pairs_[number].count += count;
    pairs_[number].places.reserve(count);
    offer(number, count);
  }
  void put(const std::vector<std::uint32_t>& won, Id neighbour, Id left, Id right,
           std::uint32_t cell) {
    if (won[neighbour] >= 2) pairs_[index_.find(left, right)].places.push_back(cell);
  }

  Cells cells_;
  std::uint32_t max_merges_;
  std::vector<std::uint32_t> lengths_;  // by id
  std::vector<Pair> pairs_;
  PairMap index_;
  std::priority_queue<Candidate> queue_;
  Side before_, after_;
};

}  // namespace

Learnt learn_merges(Cells cells, std::uint32_t first_merge, std::uint32_t max_merges) {
  return Trainer(std::move(cells), first_merge, max_merges).run();
}

}  // namespace teller::tpe
