// Entries of PyTorch's NCCL flight recorder as a run keeps them: the `attrs` of its events, and the
// META of its sources. Importers write them, the comparison of ranks reads them.
// docs/flight_records.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace teller {

// META "dialect" of a source that is such a dump.
inline constexpr std::string_view kFlightDialect = "flight";

enum class FlightState { kScheduled, kStarted, kCompleted, kUnknown };

// One collective or point-to-point operation of one rank. -1 where the dump does not say.
struct FlightEntry {
  std::int64_t record_id = -1;  // counts all operations of the process
  std::int64_t pg_id = -1;      // of the process, not of the job
  std::string group;            // name of the process group
  std::string description;
  std::int64_t seq = -1;      // collectives of this group so far
  std::int64_t p2p_seq = -1;  // point-to-point operations of this group so far
  std::int64_t op_id = -1;
  std::string name;             // "nccl:all_reduce", "nccl:send 0->1"
  std::int64_t created_ns = 0;  // Unix time
  std::optional<std::int64_t> started_ns, completed_ns;
  FlightState state = FlightState::kUnknown;
  std::string state_text;
  bool p2p = false;
  // PyTorch's watchdog has let go of it: of one that is not completed, for its time was up.
  bool retired = false;
  std::vector<std::vector<std::int64_t>> inputs, outputs;  // sizes of its tensors
  std::vector<std::string> input_types, output_types;
  std::vector<std::string> frames;  // "function file:line", innermost first
  // Keys whose values are not of their kind: a text for a number, a number beyond 64 bits.
  std::vector<std::string> unread;
  // What its fields say against each other, in words; "" for nothing. Its state is not to be relied
  // on then: an entry that PyTorch wrote never contradicts itself.
  std::string contradiction;
};

// Reads an entry, of any version of the dump; nothing, and what is wrong in `why`, if it lacks what
// makes it one: a name, a process group, a time of creation, a state.
std::optional<FlightEntry> read_flight_entry(const nlohmann::ordered_json& json, std::string& why);

// Whether entries have this key, in any version.
bool is_flight_entry_key(std::string_view key);

// Who sends to whom, as ranks within the process group.
struct FlightPeers {
  bool send = false;
  int self = 0;
  int other = 0;
};
// From names like "nccl:send 0->1" and "nccl:recv 1<-0"; nothing for other operations.
std::optional<FlightPeers> flight_peers(std::string_view name);

// What an operation is called without its library, its peers, and the variant of its call:
// "nccl:_all_gather_base" is "all_gather", "nccl:send 0->1" is "send".
std::string flight_operation(std::string_view name);

// The global ranks of a group: "[0, 1, 2]", or an array. Nothing if it is no such list.
std::optional<std::vector<int>> flight_ranks(const nlohmann::ordered_json& value);

// Bounds of what is read: ranks of one group, of all groups of a dump, and of a job.
inline constexpr std::size_t kMostFlightRanks = 1'048'576;
inline constexpr std::size_t kMostFlightRanksListed = 16 * kMostFlightRanks;
// Which bound a dump's "pg_config" breaks, in words; "" for none.
std::string too_many_flight_ranks(const nlohmann::ordered_json& groups);

// What is to be said of a dump's "version" where it is none of those that are known, 2.0 to 2.10,
// a sentence without its stop; "" where it is.
std::string flight_version_note(const nlohmann::ordered_json& version);

// A number that is written as a number or as its text; nothing for anything else.
std::optional<std::int64_t> flight_number(const nlohmann::ordered_json& value);

}  // namespace teller
