// Ranks that are missing where others wait for ever, and ranks that call something else.
#include <algorithm>

#include "horizontal/comparison.h"

namespace teller::horizontal_detail {

namespace {

// How much longer than the others' arrival a rank must have been recorded, in steps: else its
// recording may just have ended before.
constexpr double kLongerUnits = 0.5;
// Different calls in one collective; with more of them nobody is in the majority.
constexpr std::size_t kMostCalls = 64;

struct Found {
  std::size_t absent = 0;
  std::size_t different = 0;
  std::string what;  // the first collective concerned
};

std::string call_text(const Operations& operations, const Operation& op) {
  std::string text(operations.texts.view(op.operation));
  if (op.bytes >= 0) text += " of " + std::to_string(op.bytes) + " bytes";
  if (op.sequence >= 0) text += " (sequence " + std::to_string(op.sequence) + ")";
  const std::string_view group = operations.texts.view(op.group);
  if (!group.empty()) text += " of group " + std::string(group.substr(0, 80));
  return text;
}

// Members that do not make the call that more than half of the members make; nobody where there is
// no such call. Sizes that may differ, or are not known, make no other call.
void find_different(const Comparison& found, const Collective& one, std::vector<Found>& ranks) {
  const auto operation = [&](const Member& member) -> const Operation& {
    return found.operations.ranks[member.rank].list[member.at];
  };
  const Interner& texts = found.operations.texts;
  std::vector<const Operation*> calls;  // one of each kind
  std::vector<std::vector<const Member*>> callers;
  for (const Member& member : one.members) {
    std::size_t kind = 0;
    while (kind < calls.size() && are_different_calls(texts, *calls[kind], operation(member)))
      ++kind;
    if (kind == kMostCalls) return;
    if (kind == calls.size()) {
      calls.push_back(&operation(member));
      callers.emplace_back();
    }
    callers[kind].push_back(&member);
  }
  const auto largest =
      std::max_element(callers.begin(), callers.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (2 * largest->size() <= one.members.size()) return;
  for (auto kind = callers.begin(); kind != callers.end(); ++kind) {
    if (kind == largest) continue;
    for (const Member* member : *kind) {
      Found& rank = ranks[member->rank];
      if (++rank.different == 1) rank.what = call_text(found.operations, operation(*member));
    }
  }
}

}  // namespace

std::vector<std::uint32_t> missing_ranks(const Comparison& found, std::size_t at) {
  std::vector<std::uint32_t> missing;
  const Collective& one = found.matching.collectives[at];
  const Measure& measured = found.measures[at];
  if (measured.arrivals.empty()) return missing;
  double last = measured.arrivals[0].begin_ns;
  for (const Arrival& arrival : measured.arrivals) last = std::max(last, arrival.begin_ns);
  const double longer = kLongerUnits * found.lateness.unit_ns;
  for (const std::uint32_t rank : one.absent) {
    const RankOperations& ops = found.operations.ranks[rank];
    if (!ops.has_events || !found.clocks.ranks[rank].aligned) continue;
    const double begin = found.clocks.aligned(rank, ops.first_ns);
    const double end = found.clocks.aligned(rank, ops.last_ns);
    if (begin < last && last + longer < end) missing.push_back(rank);
  }
  return missing;
}

std::vector<CulpritRank> absent_ranks(const Comparison& found) {
  std::vector<Found> ranks(found.operations.ranks.size());
  for (std::size_t i = 0; i < found.matching.collectives.size(); ++i) {
    const Collective& one = found.matching.collectives[i];
    if (one.mismatched) find_different(found, one, ranks);
    if (!found.measures[i].open) continue;
    const Member& first = one.members[0];
    const Operation& op = found.operations.ranks[first.rank].list[first.at];
    for (const std::uint32_t rank : missing_ranks(found, i)) {
      if (++ranks[rank].absent == 1) ranks[rank].what = call_text(found.operations, op);
    }
  }
  std::size_t all = 0;
  for (const Found& one : ranks) all += one.absent + one.different;
  std::vector<CulpritRank> culprits;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const Found& one = ranks[rank];
    if (one.absent + one.different == 0) continue;
    CulpritRank culprit;
    culprit.rank = found.operations.ranks[rank].rank;
    culprit.score = static_cast<double>(one.absent + one.different) / static_cast<double>(all);
    culprit.numbered = found.operations.ranks[rank].numbered;
    const std::string& who = found.operations.ranks[rank].name;
    culprit.why = one.absent > 0
                      ? who + " did not come to " + std::to_string(one.absent) +
                            " collectives in which other ranks wait when the recording ends; the "
                            "first is " +
                            one.what
                      : who + " calls another collective than most of its group " +
                            std::to_string(one.different) + " times; the first is " + one.what;
    culprits.push_back(std::move(culprit));
  }
  std::stable_sort(culprits.begin(), culprits.end(),
                   [](const CulpritRank& a, const CulpritRank& b) { return a.score > b.score; });
  return culprits;
}

}  // namespace teller::horizontal_detail
