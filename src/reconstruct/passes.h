// The passes of reconstruct, in the order in which they run. Each works on the Workspace and leaves
// it ready for the next. Private to reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reconstruct/workspace.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

// load.cpp: opens the event files of the run; fills sources, tracks and threads.
Status load_sources(const RunFolder& run, Workspace& work);
// clock.cpp: sets every source's shift to the run's clock (that of the manifest, else that of the
// first source which states one).
void align_clocks(const RunFolder& run, Workspace& work);
// names.cpp: what the name of an item tells, worked out on first use.
const NameFacts& name_facts(Workspace& work, std::uint16_t source, StringId name);
// ranges.cpp: turns records into items, pairs ends with begins, counts every record once, and ends
// what is open at the last sign of life of its source.
void collect_items(Workspace& work);
// nesting.cpp: makes one tree of the ranges, calls and marks of each thread, by containment.
void nest_items(Workspace& work);
// binding.cpp: hangs device activities under their calls, and what lacks a place under the operator
// with the same External id.
void bind_items(Workspace& work);

// in_flight.cpp: makes an open item of every launch of a process that hangs whose work never ended.
void find_in_flight(Workspace& work);

// steps.cpp: chooses the roots of steps, attaches worker threads, sorts steps by time; step s has
// root step_roots[s].
struct StepRoots {
  std::vector<std::uint32_t> items;      // root of step s, an item
  std::vector<std::uint32_t> schedules;  // schedule item of step s; the root where there is none
};
StepRoots find_steps(Workspace& work);
// rows.cpp: reads the step records, adds a row item per request and fills chains.steps' facts and
// chains.rows (whose `node` is an item until write_nodes()).
void add_rows(Workspace& work, StepRoots& steps);
// request_names.cpp: makes one request of what an API server and its engine call differently.
// Numbers requests anew; what was known of names is worked out again.
void join_request_names(Workspace& work);
// request_facts.cpp: gives the ranges of spans their requests: those of ranges and rows where one
// of them has that id or another spelling of it, else new ones.
void join_requests(Workspace& work);
// emit.cpp: writes the trees as nodes in preorder and fills what steps know from their nodes. Fails
// if an item was lost on the way, which would be a defect of teller.
Status write_nodes(Workspace& work, const StepRoots& steps);
// requests.cpp: fills chains.requests from nodes and rows.
void fill_requests(Workspace& work);
// request_facts.cpp: adds what spans state of their requests where steps do not tell it.
void add_request_facts(Workspace& work);
// requests.cpp: a sign of a request at `time_ns` (log lines come after fill_requests).
void see_request(Workspace& work, std::uint32_t request, std::int64_t time_ns);

// logs.cpp: reads logs.jsonl, and aligns its lines to requests and steps.
struct LogOptions {
  std::int64_t window_ns = 0;  // how far a line may lie from the nearest step
};
Status align_logs(const RunFolder& run, const LogOptions& options, Workspace& work,
                  RecordBalance& balance);

// canonical.cpp: numbers requests and strings by their first use in the chains. What the workspace
// knows of them besides (names, request_ids) is void then.
void number_by_first_use(Workspace& work);

}  // namespace teller
