// What the dumps of a job say, rank by rank, and what each rank is known to have done. Private to
// the flight_* files.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run_folder/flight_record.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller::flight {

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// An entry with its place in the job.
struct Operation {
  FlightEntry entry;
  std::size_t group = kNone;
  bool collective = false;    // it has a sequence number that its peers share
  int other = -1;             // p2p: the peer's global rank; -1 unknown
  bool send = false;          // p2p
  bool wrapper = false;       // stands for several operations that were launched as one
  std::size_t batch = kNone;  // the wrapper that it was launched with
  bool completed = false;
  bool started = false;
  bool doubtful = false;  // its state contradicts its times, or is none: neither open nor completed
};

// What pg_status says of a group: numbers of collectives, -1 where it does not tell.
struct Progress {
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
  // Of a group with transfers: the last one enqueued, if it was a collective and no transfer.
  std::int64_t perhaps_enqueued = -1;
};

// Why a dump tells nothing of what its rank did last: a peer has completed what it took part in
// after the dump was written.
struct Outdated {
  std::size_t by = kNone;      // node of the peer; kNone: the dump is not outdated
  std::size_t group = kNone;   // of what the peer completed
  bool transfer = false;       // a receive from this rank; else a collective
  std::int64_t seq = -1;       // its number; of transfers between the two
  std::int64_t enqueued = -1;  // as far as the dump itself goes
};

// Transfers of one rank with one other in one direction, which its peer has in the same order.
struct TransferStream {
  std::size_t group = kNone;
  int other = -1;  // the peer's global rank
  bool send = false;
  auto operator<=>(const TransferStream&) const = default;
};

// One rank: a dump, or a rank of which there is none.
struct Node {
  std::optional<int> rank;
  bool has_dump = false;
  std::string source;                        // of the dump, for people
  std::string rank_from;                     // how its rank was found
  std::vector<Operation> operations;         // in the order in which they were enqueued
  std::vector<std::size_t> pending;          // of them: not completed, without wrappers; same order
  std::vector<std::size_t> place;            // by operation: place in `pending`, else kNone
  std::map<std::size_t, Progress> status;    // by group, as the dump has it
  std::map<std::size_t, Progress> progress;  // by group: what it says of collectives
  // By the dump's own id: of groups whose name is not known.
  std::map<std::int64_t, Progress> progress_unnamed;
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> collectives;  // (group, seq) -> index
  // By group: the latest sequence number that an entry tells of, and that entry's record.
  struct Last {
    std::int64_t seq = -1;
    std::int64_t record_id = -1;
  };
  std::map<std::size_t, Last> last_seq;
  // Entries of which it is not known what they are: records, -1 where that is not known either.
  // Those whose group is known lie under it, the others under kNone.
  std::map<std::size_t, std::vector<std::int64_t>> holes;
  // Those that its dump names, in its lists or in an entry.
  std::set<std::size_t> groups;
  // Of a dump that holds all that the rank ever enqueued, and says with whom: its transfers, first
  // enqueued first. Of others it is not known which of a peer's they meet.
  std::optional<std::map<TransferStream, std::vector<std::size_t>>> transfers;
  Outdated outdated;
  bool is_outdated() const { return outdated.by != kNone; }
};

struct Group {
  std::string name;
  std::string description;
  std::vector<int> ranks;            // global; empty where no dump says
  std::vector<std::size_t> members;  // nodes
  std::vector<std::size_t> present;  // of them: those with a dump
  bool has_p2p = false;              // its pg_status may be of a transfer
};

struct Job {
  std::vector<Node> nodes;
  std::vector<Group> groups;
  std::map<int, std::size_t> node_of_rank;
  std::size_t dumps = 0;
  std::size_t dumps_unplaced = 0;    // of which the rank is not known
  std::size_t dumps_superseded = 0;  // another of the same rank is newer
  std::size_t dumps_of_unknown_version = 0;
  std::size_t entries = 0, entries_unread = 0;
  std::size_t entries_contradictory = 0;  // they say nothing of who waits
  std::size_t fields_unread = 0;          // values that are not of their kind
  std::size_t status_contradictory = 0;   // more completed than enqueued: not read
  std::string first_contradictory;        // in words
  std::vector<int> ranks_without_dump;
  // With dumps of unknown rank: so many more ranks than dumps there are. One node without a rank
  // stands for them.
  std::size_t absent_unnamed = 0;
};

// What is read of one source before ranks are put together.
struct Dump {
  std::optional<int> rank;
  std::string source, rank_from;
  bool version_known = true;
  std::vector<FlightEntry> entries;
  std::size_t unread = 0;
  std::vector<std::int64_t> holes;  // record of each entry that is not in `entries`; -1 not known
  // Name -> description and ranks, as pg_config has them.
  struct Config {
    std::string description;
    std::vector<int> ranks;
  };
  std::map<std::string, Config> config;
  std::map<std::int64_t, Progress> status;  // by the dump's own id of the group
};

// Gives groups that a dump names without their ranks those that other dumps list for this name, if
// one list alone has the dump's rank. Near-linear in the lists.
void complete_groups(std::vector<Dump>& dumps);
// Fills `transfers` of a node.
void index_transfers(Node& node);

// The other end of a transfer, by its place among those of the pair.
struct OtherEnd {
  bool known = false;               // whether both dumps hold all transfers, so that places tell
  std::size_t node = kNone;         // the peer
  std::size_t index = kNone;        // of the peer's operations; kNone: it has not enqueued it
  std::int64_t place = 0;           // how many of the pair came before it
  std::int64_t enqueued = 0;        // how many the rank has enqueued in this direction, …
  std::int64_t enqueued_there = 0;  // … and how many its peer, to meet them
};
// Of operation `index`, a transfer, of a node.
OtherEnd other_end(const Job& job, std::size_t node, std::size_t index);
// When an operation was seen to be completed: one that was launched with others, when they were.
std::optional<std::int64_t> completion_ns(const Node& node, std::size_t index);

// Fills `progress` of the job's nodes from `status`, once it is known which groups have transfers.
void read_statuses(Job& job);
// Fills `outdated` of the job's nodes: near-linear in the entries and the groups' sizes.
void find_outdated(Job& job);
// Operations after which every rank knows that every other one has come: where one rank has
// completed one, all have enqueued it.
bool is_mutual(const Operation& operation);

// Reads the dumps of the run.
Result<std::vector<Dump>> load_dumps(const RunFolder& run);
// Puts them together.
Job make_job(std::vector<Dump> dumps);

// What another rank is known to have done about a collective; kUnclear: its dump has an entry that
// may be this one, and cannot be relied on.
enum class Reached { kUnknownRank, kUnclear, kNotEnqueued, kBehind, kThere, kCompleted };
// `node` against collective `seq` of `group`; kBehind: it is enqueued behind work that is pending.
Reached reached(const Job& job, std::size_t node, std::size_t group, std::int64_t seq);

// "rank 3", or the source where the rank is not known.
std::string node_words(const Node& node);
// "all_reduce, number 7 of group 43 PIPELINE_MODEL_PARALLEL_GROUP"
std::string operation_words(const Job& job, const Operation& operation);

}  // namespace teller::flight
