// What reconstruct counts: where each record went, and what it found. The names are those of
// reconstruct.json.
#pragma once

#include <cstdint>

namespace teller {

// Where the records of one source went. Every record is in exactly one bucket.
struct RecordBalance {
  std::uint64_t records_in = 0;
  std::uint64_t nodes = 0;     // used by nodes; a push and its pop are two records of one node
  std::uint64_t links = 0;     // flows, synchronisation records, ranges projected on devices, rows
  std::uint64_t metadata = 0;  // the profiler's windows and its own overhead
  std::uint64_t samples = 0;   // counters
  std::uint64_t log_lines = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t malformed = 0;  // ends without a begin, step records that are no JSON
  std::uint64_t unknown = 0;    // kinds and versions that this teller does not know

  std::uint64_t sum() const {
    return nodes + links + metadata + samples + log_lines + duplicates + malformed + unknown;
  }
};

template <typename Balance, typename Visit>
void visit_balance(Balance& b, Visit&& visit) {
  visit("records_in", b.records_in);
  visit("nodes", b.nodes);
  visit("links", b.links);
  visit("metadata", b.metadata);
  visit("samples", b.samples);
  visit("log_lines", b.log_lines);
  visit("duplicates", b.duplicates);
  visit("malformed", b.malformed);
  visit("unknown", b.unknown);
}

struct ReconstructCounters {
  std::uint64_t pops_without_push = 0;
  std::uint64_t ends_without_start = 0;
  std::uint64_t open_items = 0;        // never ended: they end at the capture's end
  std::uint64_t overlaps_clipped = 0;  // ranges that did not nest, cut at their parent's end
  // Python functions that an annotation began or ended in: they end where it begins or ends.
  std::uint64_t frames_cut_by_annotations = 0;
  std::uint64_t async_ranges_loose =
      0;  // start/end or open ranges that outlast what is around them
  std::uint64_t negative_durations = 0;  // ends before its begin: taken as an instant
  std::uint64_t times_clamped = 0;       // times too large for the run's clock
  std::uint64_t clocks_unknown = 0;      // sources whose clock says nothing about Unix time

  std::uint64_t device_activities = 0;
  std::uint64_t bound_by_correlation = 0;
  std::uint64_t bound_by_external_id = 0;
  std::uint64_t bound_by_flow = 0;
  std::uint64_t before_window = 0;         // their call lies before the capture's first call
  std::uint64_t without_call = 0;          // no call, and none explained by the window
  std::uint64_t graph_launches = 0;        // launches of graphs that own device activities
  std::uint64_t launches = 0;              // calls that launch a kernel or a graph, failed ones not
  std::uint64_t launches_in_flight = 0;    // of a process that hangs: their work never ended
  std::uint64_t launches_at_end = 0;       // the capture ended before their work did
  std::uint64_t launches_into_graphs = 0;  // captured into a graph: nothing ran
  std::uint64_t launches_without_device = 0;  // of processes without any device activity
  // Their work had ended, for later work of their stream had, or it was waited for, but was not
  // recorded.
  std::uint64_t launches_without_activity = 0;
  std::uint64_t calls = 0;
  std::uint64_t calls_in_ranges = 0;
  std::uint64_t calls_by_external_id = 0;
  std::uint64_t ranges = 0;
  std::uint64_t ranges_in_steps = 0;
  std::uint64_t calls_in_steps = 0;
  std::uint64_t device_in_steps = 0;
  std::uint64_t worker_ranges_in_steps = 0;   // ranges of worker threads hung under a step
  std::uint64_t worker_ranges_by_flow = 0;    // of them: by the steps of their forward operators
  std::uint64_t worker_ranges_ambiguous = 0;  // lie in several steps at once
  // What worker processes did for a call of the engine: hung under its step, or not told whose.
  std::uint64_t worker_calls_in_steps = 0;
  std::uint64_t worker_calls_unjoined = 0;

  std::uint64_t step_records = 0;
  std::uint64_t step_records_unreadable = 0;
  std::uint64_t step_records_newer = 0;
  // That refer to the waiting requests of a record that is not there.
  std::uint64_t step_records_without_wait = 0;
  std::uint64_t step_records_outside = 0;  // no step around them: each makes one of its own
  std::uint64_t row_entries_malformed = 0;
  std::uint64_t request_names_joined = 0;  // other names of requests that have rows

  std::uint64_t request_spans = 0;         // spans that say what became of a request
  std::uint64_t request_spans_joined = 0;  // whose request is one of ranges or rows

  std::uint64_t log_lines_malformed = 0;  // lines of logs.jsonl that are no JSON object
  std::uint64_t log_entries = 0;          // lines that begin one; the others go on with one
  std::uint64_t log_lines_continued = 0;
  std::uint64_t logs_by_request = 0;
  std::uint64_t logs_in_flight = 0;
  std::uint64_t logs_nearest = 0;
  std::uint64_t logs_unaligned = 0;
};

template <typename Counters, typename Visit>
void visit_counters(Counters& c, Visit&& visit) {
#define TELLER_COUNTER(name) visit(#name, c.name)
  TELLER_COUNTER(pops_without_push);
  TELLER_COUNTER(ends_without_start);
  TELLER_COUNTER(open_items);
  TELLER_COUNTER(overlaps_clipped);
  TELLER_COUNTER(frames_cut_by_annotations);
  TELLER_COUNTER(async_ranges_loose);
  TELLER_COUNTER(negative_durations);
  TELLER_COUNTER(times_clamped);
  TELLER_COUNTER(clocks_unknown);
  TELLER_COUNTER(device_activities);
  TELLER_COUNTER(bound_by_correlation);
  TELLER_COUNTER(bound_by_external_id);
  TELLER_COUNTER(bound_by_flow);
  TELLER_COUNTER(before_window);
  TELLER_COUNTER(without_call);
  TELLER_COUNTER(graph_launches);
  TELLER_COUNTER(launches);
  TELLER_COUNTER(launches_in_flight);
  TELLER_COUNTER(launches_at_end);
  TELLER_COUNTER(launches_into_graphs);
  TELLER_COUNTER(launches_without_device);
  TELLER_COUNTER(launches_without_activity);
  TELLER_COUNTER(calls);
  TELLER_COUNTER(calls_in_ranges);
  TELLER_COUNTER(calls_by_external_id);
  TELLER_COUNTER(ranges);
  TELLER_COUNTER(ranges_in_steps);
  TELLER_COUNTER(calls_in_steps);
  TELLER_COUNTER(device_in_steps);
  TELLER_COUNTER(worker_ranges_in_steps);
  TELLER_COUNTER(worker_ranges_by_flow);
  TELLER_COUNTER(worker_ranges_ambiguous);
  TELLER_COUNTER(worker_calls_in_steps);
  TELLER_COUNTER(worker_calls_unjoined);
  TELLER_COUNTER(step_records);
  TELLER_COUNTER(step_records_unreadable);
  TELLER_COUNTER(step_records_newer);
  TELLER_COUNTER(step_records_without_wait);
  TELLER_COUNTER(step_records_outside);
  TELLER_COUNTER(row_entries_malformed);
  TELLER_COUNTER(request_names_joined);
  TELLER_COUNTER(request_spans);
  TELLER_COUNTER(request_spans_joined);
  TELLER_COUNTER(log_lines_malformed);
  TELLER_COUNTER(log_entries);
  TELLER_COUNTER(log_lines_continued);
  TELLER_COUNTER(logs_by_request);
  TELLER_COUNTER(logs_in_flight);
  TELLER_COUNTER(logs_nearest);
  TELLER_COUNTER(logs_unaligned);
#undef TELLER_COUNTER
}

}  // namespace teller
