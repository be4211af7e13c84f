// Who waits for whom, by what the dumps of a job hold. Private to the flight_* files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "horizontal/flight_job.h"

namespace teller::flight {

// Why one rank waits for another.
enum class WaitReason {
  kNotEnqueued,  // the other has not come to the operation
  kNoDump,       // nothing is known of the other
  kBehind,       // the other has enqueued it behind work that it has not completed
  kNotStarted,   // the other has enqueued it first of all, and has not begun it
  kMismatch,     // the other has called something else in its place
};

struct Wait {
  std::size_t node = kNone;  // who is waited for
  WaitReason reason = WaitReason::kNotEnqueued;
};

// Lists that the ranks which wait in one operation share: a job of n ranks has few of them, of n
// members each.
using WaitList = std::shared_ptr<const std::vector<Wait>>;
using NodeList = std::shared_ptr<const std::vector<std::size_t>>;

// What is to be said of one rank.
enum class Standing {
  kIdle,        // it has no operation that is not completed
  kWaits,       // it waits for others: `waits`
  kStuckAlone,  // its peers have completed what it has not
  kNotStarted,  // its peers have begun what it has enqueued first of all and not begun
  kInside,      // all are in the operation with it, and none comes out
  kMismatched,  // it called something else than its peers
  kOutdated,    // its dump was written before its peers went on
  kNoDump,
};

struct Position {
  Standing standing = Standing::kIdle;
  std::size_t operation = kNone;  // of the node: what it waits in, is stuck in, or called wrongly
  WaitList waits;                 // never null
  NodeList peers;      // never null; kStuckAlone: who completed it; kNotStarted: who began it;
                       // kMismatched: who called else
  NodeList unclear;    // never null; peers of which it is not known whether they came
  std::string detail;  // kMismatched: what differs, in words
};

// Whether it is not known who takes part, so that waiting there tells of nobody.
bool tells_nothing(const Job& job, const Node& node, const Operation& operation);

// By node; near-linear in the dumps, the groups' sizes and the ranks together. What a rank has
// enqueued first of what is open decides, unless its peers have completed any of it.
std::vector<Position> find_positions(const Job& job);

// Whether all that a node's dump tells lies before the first of its peers completed what the node
// is stuck in, by the hosts' clocks, and a peer has enqueued several more of that group, or of the
// transfers of both: so does a dump look that was written earlier, and one of a rank that hangs.
bool is_seen_earlier(const Job& job, std::size_t node, const Position& position);

// A collective that was called differently: the calls of the few, against those of the most. Where
// no call has a majority, `few` are all of them.
struct Mismatch {
  std::size_t group = kNone;
  std::int64_t seq = -1;
  std::vector<std::size_t> few, most;  // nodes, ascending
  std::string detail;
};
// Among collectives that some rank has not completed; per group the first.
std::vector<Mismatch> find_mismatches(const Job& job);

}  // namespace teller::flight
