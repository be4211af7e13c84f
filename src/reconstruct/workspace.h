// What reconstruct works on: the sources of a run, the items that may become nodes, and counters.
// Private to reconstruct/ and its tests.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/interner.h"
#include "reconstruct/counters.h"
#include "reconstruct/name_table.h"
#include "run_folder/chains.h"
#include "run_folder/event_file.h"
#include "run_folder/run_clock.h"
#include "teller/event.h"

namespace teller {

// What an item is, as far as its place in a tree depends on it.
enum class ItemKind : std::uint8_t {
  kRange,       // nests on its thread
  kAsyncRange,  // start/end range: may end on another thread, so it need not nest
  kCall,        // API call
  kDevice,      // device activity
  kMark,        // instant
  kRecord,      // step record: placed like a mark, becomes rows and no node
  kRow,         // row made from a record; `event` is the record
  kInFlight,    // work of a launch that never ended, made from the call; `event` is the call
  kStep,        // step made from a record that has no range of its own; `event` is the record
};

// Bits of Item::marks: what passes learnt about an item.
enum ItemMark : std::uint8_t {
  kInCall = 1u << 0,     // an API call stands above it on its thread
  kStepRoot = 1u << 1,   // root of a step's tree, whatever stands above it on its thread
  kDropped = 1u << 2,    // becomes no node: a duplicate or a record
  kStepRange = 1u << 3,  // may be a step: teller's STEP category or an engine's annotation
  kInRange = 1u << 4,    // a range stands above it on its thread
};

// One interval or instant that may become a node. Items stand in the order of the sources; within
// one in that of its records, which no pass may rely on: see item_order.h.
struct Item {
  const EventRecord* event = nullptr;  // in the source's memory map
  std::int64_t begin_ns = 0;           // run's clock
  std::int64_t end_ns = 0;             // kOpenNs until close_open_items()
  std::uint32_t parent = kNoIndex;     // item
  std::uint32_t track = 0;             // index into chains' tracks
  std::uint16_t source = 0;
  std::uint16_t flags = 0;  // NodeFlag
  ItemKind kind = ItemKind::kRange;
  Layer layer = Layer::kFrontEnd;
  std::uint8_t marks = 0;   // ItemMark
  std::uint8_t detail = 0;  // kRow: RowPhase; a pushed range: how many are pushed around it, at
                            // most 255
};

// What META calls sources whose ranges are spans of requests, as an engine reported them.
inline constexpr std::string_view kSpanDialect = "otlp";

// How a source's clock relates to Unix time, where it says.
struct Source {
  EventFile file;
  std::string name;     // the input's file name, or "pid N"
  std::string dialect;  // "capture", "kineto", "nsys", "otlp", "execution_trace"
  std::int64_t pid = -1;
  std::int64_t parent_pid = -1;  // where it is known
  bool lossy = false;            // events were dropped while it was recorded
  SourceClock clock;
  std::int64_t shift_ns = 0;  // run's clock = time in the file + shift_ns
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();  // last sign of life
  std::vector<std::uint32_t> tracks;  // by TrackId: index into chains.tracks; never empty
  StringId teller_domain = 0;         // ids of strings with a meaning; 0 where the file lacks them
  StringId step_category = 0;
  StringId back_end_category = 0;
  StringId record_category = 0;
  StringId nccl_domain = 0;
  StringId forward_backward = 0;
  NameTable names;
  RecordBalance balance;
  std::size_t calls = 0;  // items of these kinds
  std::size_t devices = 0;
  std::size_t linked_ranges = 0;  // ranges with an External id
  std::size_t flow_ends = 0;
};

// A place where host ranges nest: a thread of a source (several tracks may name the same one).
struct Thread {
  std::uint16_t source = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  bool host = false;        // a thread; else a row of a viewer
  bool worker = false;      // runs operators for others: has operators, or ends fwd-bwd flows
  bool has_step = false;    // a step's root lies on it
  std::uint32_t first = 0;  // its items: order[first, first + count), parents before children
  std::uint32_t count = 0;
};

struct Workspace {
  std::vector<Source> sources;
  std::vector<Thread> threads;
  std::vector<std::uint32_t> thread_of_track;  // by index into chains' tracks
  std::vector<Item> items;
  std::vector<std::uint32_t> order;    // host items by thread, in tree order
  std::vector<std::uint32_t> devices;  // device items
  std::vector<std::uint32_t> step_of;  // by item: step index, kNoIndex outside any step
  Interner request_ids;                // request = id - 1
  std::unordered_map<std::string, std::string> request_aliases;  // other name -> id
  std::uint32_t joined_below = 0;  // requests below this number were known before spans
  ChainsBuilder chains;
  ReconstructCounters counters;
  std::unordered_map<std::uint32_t, std::string> in_flight_names;  // by item: kernel, "" unknown
  std::unordered_map<std::uint32_t, std::string> wait_reasons;     // by item: of rows that have one

  // Number of the request with this id, added if it is new; kNoIndex for "".
  std::uint32_t request(std::string_view id) {
    if (id.empty()) return kNoIndex;
    if (request_aliases.empty()) return request_ids.intern(id) - 1;
    const auto alias = request_aliases.find(std::string(id));
    return request_ids.intern(alias == request_aliases.end() ? id : alias->second) - 1;
  }
  const EventRecord& event(const Item& item) const { return *item.event; }
  std::string_view name_of(const Item& item) const {
    return sources[item.source].file.string(item.event->name);
  }
  // The JSON of a step record.
  std::string_view record_of(const Item& item) const {
    const StringId text = item.event->attrs != 0 ? item.event->attrs : item.event->name;
    return sources[item.source].file.string(text);
  }
};

}  // namespace teller
