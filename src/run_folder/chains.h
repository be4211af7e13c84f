// The call chains of a run: nodes, steps, rows, requests and aligned log lines, as reconstruct
// writes them and every later stage reads them (chains.tcol). A step's tree is stored once; C_q(s),
// the chain of request q in step s, is a view of it: the step's nodes without those that belong to
// another request.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "run_folder/column_file.h"
#include "teller/event.h"
#include "teller/result.h"

namespace teller {

// "None" in columns that hold an index.
inline constexpr std::uint32_t kNoIndex = 0xffffffff;

// Times of a run lie within ± this (73 years): the difference and the sum of two always fit.
inline constexpr std::int64_t kTimeLimitNs = std::int64_t{1} << 61;

// Bits of NodeColumns::flags.
enum NodeFlag : std::uint16_t {
  kNodeOpen =
      1u << 0,  // never ended; end_ns is the capture's end. Evidence, never part of a baseline
  kNodeRow = 1u << 1,  // a row: one request in one step's schedule
  kNodeCollective =
      1u << 2,  // COMM: a collective or point-to-point operation (has its FE/BE/RT/K layer too)
  kNodeFailed = 1u << 3,     // a call whose return code says that it failed; `value` holds the code
  kNodeRepaired = 1u << 4,   // its interval was clipped to nest
  kNodeSchedule = 1u << 5,   // the schedule node of a step
  kNodeSynthetic = 1u << 6,  // made by reconstruct (tree roots without an event, rows)
  kNodeGraph = 1u << 7,      // device activity of a graph launch
  kNodeMark = 1u << 8,       // an instant (NVTX mark)
};

// One node per column index, in preorder: a node's parent stands before it, and its subtree follows
// it. Roots have parent kNoIndex: one STEP root per step, one synthetic root per process for what
// lies outside any step.
template <template <typename> class Column>
struct NodeColumns {
  Column<std::uint32_t> parent;
  Column<std::uint32_t> step;    // index into steps; kNoIndex outside any step
  Column<std::uint32_t> name;    // string: full name
  Column<std::uint32_t> family;  // string: name without volatile parts
  Column<std::uint32_t> track;   // index into tracks
  Column<std::uint32_t>
      request;  // index into requests: belongs to this request alone; kNoIndex: shared
  Column<std::int64_t> begin_ns;  // on the run's clock
  Column<std::int64_t> end_ns;
  Column<std::int64_t> value;    // return code of a call, bytes of a copy, else 0
  Column<std::uint16_t> source;  // index into sources
  Column<std::uint16_t> flags;   // NodeFlag
  Column<std::uint8_t> layer;    // Layer
};

template <template <typename> class Column>
struct StepColumns {
  Column<std::uint32_t> root;      // node
  Column<std::uint32_t> schedule;  // node of the schedule range; root where there is none
  Column<std::uint32_t> engine;    // string; "" where unknown
  Column<std::int64_t> number;     // the engine's own step number; -1 where unknown
  Column<std::int64_t> begin_ns;
  Column<std::int64_t> end_ns;  // end of the step's own range
  Column<std::int64_t>
      last_ns;  // end of the last node of its tree (device work may outlast the range)
  Column<std::int64_t> device_busy_ns;  // length of the union of its device activities
  Column<std::int64_t> tokens;          // scheduled tokens; -1 where unknown
  Column<std::int64_t> context;  // computed tokens of the scheduled requests; -1 where unknown
  Column<std::int32_t> kv_free;  // free KV blocks; -1 where unknown
  Column<std::int32_t> kv_total;
  Column<std::int32_t> token_limit;  // token budget of the step; -1 where unknown
  Column<std::int32_t> seqs;         // used sequence slots; -1 where unknown
  Column<std::int32_t> seq_limit;
  Column<std::uint32_t> first_row;  // rows of step s: [first_row, first_row + row_count)
  Column<std::uint32_t> row_count;
  Column<std::uint32_t> node_count;  // size of its tree
  Column<std::uint8_t> open;         // 1: had not ended when the capture stopped
};

// What a request did in a step. Numbers are written to files.
enum class RowPhase : std::uint8_t { kPrefill = 1, kDecode = 2, kWaiting = 3, kPreempted = 4 };
std::string_view row_phase_name(RowPhase phase);  // "prefill", "decode", "waiting", "preempted"

template <template <typename> class Column>
struct RowColumns {
  Column<std::uint32_t> step;
  Column<std::uint32_t> request;
  Column<std::uint32_t> node;
  Column<std::int64_t> scheduled;  // tokens given in this step
  Column<std::int64_t> computed;   // tokens whose KV was there before this step
  Column<std::int64_t>
      computed_fall;  // how far `computed` lies below its highest value so far in this request
  Column<std::int64_t>
      since_served;  // steps of this engine since the request last got tokens (0: in the last step)
  Column<std::int64_t> end_ns;  // end of the step in which the tokens were made
  Column<double> share;         // share of the step's scheduled tokens, 0..1
  Column<std::uint8_t> phase;   // RowPhase
  Column<std::uint8_t> is_new;  // first time scheduled, or back from preemption
};

template <template <typename> class Column>
struct RequestColumns {
  Column<std::uint32_t> id;            // string
  Column<std::int64_t> first_seen_ns;  // first sign of it: log line, range or row; -1 where unknown
  Column<std::int64_t> first_scheduled_ns;  // begin of its first step with tokens; -1 if never
  Column<std::int64_t> first_token_ns;  // end of the step that ended its first prefill; -1 if never
  Column<std::int64_t> last_ns;         // end of its last step with tokens; -1 if never
  Column<std::uint32_t> steps;          // steps in which it got tokens
  Column<std::uint32_t> waiting_steps;  // rows waiting
  Column<std::uint32_t> preemptions;    // rows preempted
  Column<std::int64_t> prefill_tokens;  // scheduled in prefill rows, recomputed ones included
  Column<std::int64_t> decode_tokens;
};

// The rule that aligned a log line. Numbers are written to files.
enum class LogRule : std::uint8_t {
  kNone = 0,  // no time and no id: aligned to nothing
  kRequest =
      1,  // the line names a request of the run: aligned to its step in flight, else its nearest
  kInFlight = 2,  // by time: a step was in flight
  kNearest = 3,   // by time: the nearest step within the window
};

// How grave a log line's level is, whatever its program calls it.
enum class Severity : std::uint8_t { kNone, kWarning, kError };
Severity severity_of(std::string_view level);

template <template <typename> class Column>
struct LogColumns {
  Column<std::int64_t> time_ns;   // on the run's clock; -1 where unknown
  Column<std::uint32_t> text;     // string
  Column<std::uint32_t> stream;   // string: "stdout", "stderr" or file name
  Column<std::uint32_t> level;    // string: "INFO", "ERROR", …; "" where unknown
  Column<std::uint32_t> request;  // kNoIndex: names none
  Column<std::uint32_t> step;     // kNoIndex: aligned to none
  Column<std::int64_t> pid;       // -1 where unknown
  Column<std::uint8_t> rule;      // LogRule
  // Read from the line itself (docs/logs.md). Older files lack what follows.
  Column<std::uint32_t> entry;    // row of the first line of its entry; its own where it is that
  Column<std::uint32_t> format;   // string: "vllm", "nccl", …; "" where none is known
  Column<std::uint32_t> process;  // string: "EngineCore_DP0"; "" where it names none
  Column<std::uint32_t> source;   // string: "core.py:349"
  Column<std::uint32_t> ranks;    // string: "DP0 TP3", its ranks in groups
  Column<std::int32_t> rank;      // in the whole job; -1 unknown
  Column<std::int64_t> stamp_ns;  // its own time, on the run's clock; -1 where that cannot be told
};

// Tracks of all sources, in the terms of event.h.
template <template <typename> class Column>
struct TrackColumns {
  Column<std::uint32_t> kind;  // TrackKind
  Column<std::uint16_t> source;
  Column<std::int64_t> pid;
  Column<std::int64_t> tid;
  Column<std::int32_t> device;
  Column<std::int64_t> stream;
  Column<std::uint32_t> label;  // string: "device 0 stream 7", thread name
};

// One source per event file, in the order of the files.
template <template <typename> class Column>
struct SourceColumns {
  Column<std::uint32_t> name;  // string: the input's file name, or "pid N"
  Column<std::int32_t> rank;   // of a distributed job; -1 unknown. Older files lack it
  Column<std::uint32_t> host;  // string: name of the machine; 0 unknown. Older files lack it
};

template <typename T>
using OwnedColumn = std::vector<T>;
template <typename T>
using MappedColumn = std::span<const T>;

// Calls visit(table, column name, column) for every column: one list for writer, reader and dump.
template <typename Chains, typename Visit>
void visit_columns(Chains& c, Visit&& visit) {
#define TELLER_COLUMN(table, name) visit(#table, #name, c.table.name)
  TELLER_COLUMN(nodes, parent);
  TELLER_COLUMN(nodes, step);
  TELLER_COLUMN(nodes, name);
  TELLER_COLUMN(nodes, family);
  TELLER_COLUMN(nodes, track);
  TELLER_COLUMN(nodes, request);
  TELLER_COLUMN(nodes, begin_ns);
  TELLER_COLUMN(nodes, end_ns);
  TELLER_COLUMN(nodes, value);
  TELLER_COLUMN(nodes, source);
  TELLER_COLUMN(nodes, flags);
  TELLER_COLUMN(nodes, layer);
  TELLER_COLUMN(steps, root);
  TELLER_COLUMN(steps, schedule);
  TELLER_COLUMN(steps, engine);
  TELLER_COLUMN(steps, number);
  TELLER_COLUMN(steps, begin_ns);
  TELLER_COLUMN(steps, end_ns);
  TELLER_COLUMN(steps, last_ns);
  TELLER_COLUMN(steps, device_busy_ns);
  TELLER_COLUMN(steps, tokens);
  TELLER_COLUMN(steps, context);
  TELLER_COLUMN(steps, kv_free);
  TELLER_COLUMN(steps, kv_total);
  TELLER_COLUMN(steps, token_limit);
  TELLER_COLUMN(steps, seqs);
  TELLER_COLUMN(steps, seq_limit);
  TELLER_COLUMN(steps, first_row);
  TELLER_COLUMN(steps, row_count);
  TELLER_COLUMN(steps, node_count);
  TELLER_COLUMN(steps, open);
  TELLER_COLUMN(rows, step);
  TELLER_COLUMN(rows, request);
  TELLER_COLUMN(rows, node);
  TELLER_COLUMN(rows, scheduled);
  TELLER_COLUMN(rows, computed);
  TELLER_COLUMN(rows, computed_fall);
  TELLER_COLUMN(rows, since_served);
  TELLER_COLUMN(rows, end_ns);
  TELLER_COLUMN(rows, share);
  TELLER_COLUMN(rows, phase);
  TELLER_COLUMN(rows, is_new);
  TELLER_COLUMN(requests, id);
  TELLER_COLUMN(requests, first_seen_ns);
  TELLER_COLUMN(requests, first_scheduled_ns);
  TELLER_COLUMN(requests, first_token_ns);
  TELLER_COLUMN(requests, last_ns);
  TELLER_COLUMN(requests, steps);
  TELLER_COLUMN(requests, waiting_steps);
  TELLER_COLUMN(requests, preemptions);
  TELLER_COLUMN(requests, prefill_tokens);
  TELLER_COLUMN(requests, decode_tokens);
  TELLER_COLUMN(logs, time_ns);
  TELLER_COLUMN(logs, text);
  TELLER_COLUMN(logs, stream);
  TELLER_COLUMN(logs, level);
  TELLER_COLUMN(logs, request);
  TELLER_COLUMN(logs, step);
  TELLER_COLUMN(logs, pid);
  TELLER_COLUMN(logs, rule);
  TELLER_COLUMN(logs, entry);
  TELLER_COLUMN(logs, format);
  TELLER_COLUMN(logs, process);
  TELLER_COLUMN(logs, source);
  TELLER_COLUMN(logs, ranks);
  TELLER_COLUMN(logs, rank);
  TELLER_COLUMN(logs, stamp_ns);
  TELLER_COLUMN(tracks, kind);
  TELLER_COLUMN(tracks, source);
  TELLER_COLUMN(tracks, pid);
  TELLER_COLUMN(tracks, tid);
  TELLER_COLUMN(tracks, device);
  TELLER_COLUMN(tracks, stream);
  TELLER_COLUMN(tracks, label);
  TELLER_COLUMN(sources, name);
  TELLER_COLUMN(sources, rank);
  TELLER_COLUMN(sources, host);
#undef TELLER_COLUMN
}

// Chains being made. Strings go through `strings`.
struct ChainsBuilder {
  NodeColumns<OwnedColumn> nodes;
  StepColumns<OwnedColumn> steps;
  RowColumns<OwnedColumn> rows;
  RequestColumns<OwnedColumn> requests;
  LogColumns<OwnedColumn> logs;
  TrackColumns<OwnedColumn> tracks;
  SourceColumns<OwnedColumn> sources;
  Interner strings;

  // Writes PATH (x.part, rename).
  Status write(const std::string& path) const;
};

// Chains of a run, memory-mapped and checked.
class Chains {
 public:
  // Maps and checks `path`: columns of one table have one length, every index is in range, nodes
  // stand in preorder, every step has one tree and its rows and schedule in it, times are sane.
  static Result<Chains> open(const std::string& path);

  NodeColumns<MappedColumn> nodes;
  StepColumns<MappedColumn> steps;
  RowColumns<MappedColumn> rows;
  RequestColumns<MappedColumn> requests;
  LogColumns<MappedColumn> logs;
  TrackColumns<MappedColumn> tracks;
  SourceColumns<MappedColumn> sources;

  std::size_t node_count() const { return nodes.parent.size(); }
  std::size_t step_count() const { return steps.root.size(); }
  std::size_t row_count() const { return rows.step.size(); }
  std::size_t request_count() const { return requests.id.size(); }
  std::size_t log_count() const { return logs.text.size(); }
  std::size_t source_count() const { return sources.name.size(); }

  std::string_view string(std::uint32_t id) const {
    return id < string_ends_.size() ? string_bytes_.substr(string_begin(id), string_length(id))
                                    : std::string_view{};
  }
  std::size_t string_count() const { return string_ends_.size(); }
  // Rank of a source in its distributed job; -1 where it is not known.
  std::int32_t rank_of_source(std::uint16_t source) const {
    return source < sources.rank.size() ? sources.rank[source] : -1;
  }
  // Name of the machine that a source was recorded on; "" where it is not known.
  std::string_view host_of_source(std::uint16_t source) const {
    return source < sources.host.size() ? string(sources.host[source]) : std::string_view{};
  }
  std::int32_t rank(std::uint32_t node) const { return rank_of_source(nodes.source[node]); }
  Layer layer(std::uint32_t node) const { return static_cast<Layer>(nodes.layer[node]); }

 private:
  std::uint64_t string_begin(std::uint32_t id) const { return id == 0 ? 0 : string_ends_[id - 1]; }
  std::uint64_t string_length(std::uint32_t id) const {
    return string_ends_[id] - string_begin(id);
  }
  Status map_columns();
  Status check() const;
  Status check_indexes() const;
  Status check_trees() const;
  Status check_steps() const;
  Status check_times() const;
  Error corrupt(const std::string& why) const;

  ColumnFile file_;
  std::span<const std::uint64_t> string_ends_;
  std::string_view string_bytes_;
};

}  // namespace teller
