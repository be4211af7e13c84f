// The tables of Nsight Systems that hold one event per row: CUDA calls, device activities, library
// and operating-system calls.
#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "importers/nsys_process.h"
#include "importers/nsys_rows.h"

namespace teller {

namespace {

struct TableSpec {
  std::string_view name;
  EventKind kind;
  std::uint16_t flags;
  bool on_device;
};

constexpr TableSpec kTables[] = {
    {"CUPTI_ACTIVITY_KIND_RUNTIME", EventKind::kApiCall, 0, false},
    {"CUPTI_ACTIVITY_KIND_DRIVER", EventKind::kApiCall, kFlagDriver, false},
    {"CUPTI_ACTIVITY_KIND_KERNEL", EventKind::kKernel, 0, true},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", EventKind::kMemcpy, 0, true},
    {"CUPTI_ACTIVITY_KIND_MEMSET", EventKind::kMemset, 0, true},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", EventKind::kSync, 0, true},
    {"CUPTI_ACTIVITY_KIND_CUDA_EVENT", EventKind::kSync, 0, true},
    // A whole graph launch, where its nodes were not traced one by one.
    {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", EventKind::kDeviceRange, kFlagGraph, true},
    {"CUPTI_ACTIVITY_KIND_OVERHEAD", EventKind::kOverhead, 0, false},
    {"PROFILER_OVERHEAD", EventKind::kOverhead, 0, false},
    {"CUDA_GPU_MEMORY_USAGE_EVENTS", EventKind::kMemory, 0, true},
    {"OSRT_API", EventKind::kRange, 0, false},
    {"CUDNN_EVENTS", EventKind::kRange, kFlagOperator, false},
    {"CUBLAS_EVENTS", EventKind::kRange, kFlagOperator, false},
    {"CUDA_GRAPH_EVENTS", EventKind::kMark, 0, false},
    {"CUDA_GRAPH_NODE_EVENTS", EventKind::kMark, 0, false},
    {"MPI_COLLECTIVES_EVENTS", EventKind::kRange, kFlagOperator, false},
    {"MPI_P2P_EVENTS", EventKind::kRange, kFlagOperator, false},
    {"MPI_OTHER_EVENTS", EventKind::kRange, kFlagOperator, false},
    {"MPI_START_WAIT_EVENTS", EventKind::kRange, kFlagOperator, false},
};

constexpr std::string_view kCopyKinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH",
                                           "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
                                           "PtoP",    "HtoD", "DtoH", "DtoD"};
constexpr std::string_view kMemoryKinds[] = {"Pageable",       "Pinned",  "Device",
                                             "Array",          "Managed", "Device Static",
                                             "Managed Static", "Unknown"};
constexpr std::string_view kSyncTypes[] = {"Unknown Sync", "Event Sync", "Stream Wait Event",
                                           "Stream Sync", "Context Sync"};
constexpr std::string_view kOverheadTypes[] = {"Undefined",
                                               "Unknown",
                                               "Driver JIT Compiler",
                                               "Buffer Flush",
                                               "Instrumentation",
                                               "Resource",
                                               "Runtime Triggered Module Loading",
                                               "Lazy Function Loading",
                                               "Command Buffer Full"};

template <std::size_t N>
std::string_view entry(const std::string_view (&names)[N], std::optional<std::int64_t> id) {
  return id && *id >= 0 && *id < static_cast<std::int64_t>(N) ? names[*id] : "Unknown";
}

const TableSpec* spec_of(std::string_view table) {
  const auto* found = std::find_if(std::begin(kTables), std::end(kTables),
                                   [&](const TableSpec& spec) { return spec.name == table; });
  return found == std::end(kTables) ? nullptr : found;
}

// Copies, memsets and synchronisations have no name in the file: they get the one that PyTorch's
// profiler gives them, so that they are of one family whoever traced them.
std::string made_up_name(EventKind kind, const NsysRow& row) {
  switch (kind) {
    case EventKind::kMemcpy: {
      std::string name = "Memcpy " + std::string(entry(kCopyKinds, row.copy_kind));
      if (!row.source_kind || !row.target_kind) return name;
      return name + " (" + std::string(entry(kMemoryKinds, row.source_kind)) + " -> " +
             std::string(entry(kMemoryKinds, row.target_kind)) + ")";
    }
    case EventKind::kMemset:
      return "Memset (" +
             std::string(row.memory_kind ? entry(kMemoryKinds, row.memory_kind) : "Device") + ")";
    case EventKind::kSync:
      return row.sync_type ? std::string(entry(kSyncTypes, row.sync_type)) : "Event Record";
    case EventKind::kOverhead:
      return std::string(entry(kOverheadTypes, row.overhead_type));
    case EventKind::kMemory:
      return row.memory_operation == 1 ? "free" : "allocate";
    case EventKind::kDeviceRange:
      return "graph " + std::to_string(row.graph.value_or(0));
    default:
      return "";
  }
}

class TableImport {
 public:
  TableImport(NsysImport& import, const std::string& table, TableSpec spec)
      : import_(import), table_(table), spec_(spec), category_(import.writer.intern(table)) {}

  Status run() {
    TELLER_TRY(NsysQuery query, import_.database.rows(table_));
    const NsysRowReader reader(query, import_.database);
    NsysRow row;
    for (std::uint64_t done = 0;; ++done) {
      if (done % 4096 == 0 && stop_requested(import_.request)) {
        return interrupted_error(import_.request);
      }
      TELLER_TRY(const bool more, query.step());
      if (!more) return {};
      reader.read(row);
      ++import_.counts.records;
      TELLER_CHECK_OK(add(row));
    }
  }

 private:
  Status add(NsysRow& row) {
    EventRecord record;
    record.kind = static_cast<std::uint16_t>(spec_.kind);
    record.flags = spec_.flags;
    record.category = category_;
    if (table_ == "CUPTI_ACTIVITY_KIND_CUDA_EVENT") TELLER_CHECK_OK(find_event_time(row, record));
    if (!set_times(row, record)) {
      ++import_.counts.malformed;
      return {};
    }
    set_ids(row, record);
    if (record.kind == static_cast<std::uint16_t>(EventKind::kSync)) {
      TELLER_CHECK_OK(append_recorder(row));
    }
    record.track = track(row);
    record.name = name(row, record);
    append_launch(row);
    if (spec_.kind == EventKind::kUnknown) {
      ++import_.counts.unknown[table_];
    } else {
      ++import_.counts.events;
    }
    return import_.write(record, row.attrs);
  }

  bool set_times(const NsysRow& row, EventRecord& record) const {
    if (!row.start || *row.start == kOpenNs) return false;
    record.begin_ns = record.end_ns = *row.start;
    const bool instant = spec_.kind == EventKind::kMark || spec_.kind == EventKind::kMemory;
    if (instant || table_ == "CUPTI_ACTIVITY_KIND_CUDA_EVENT") return true;
    if (row.end_unread || row.end == kOpenNs) return false;  // not open: nobody knows
    record.end_ns = row.end.value_or(kOpenNs);
    return record.end_ns >= record.begin_ns;
  }

  void set_ids(const NsysRow& row, EventRecord& record) const {
    if (row.correlation) {
      record.correlation = static_cast<std::uint64_t>(*row.correlation);
      record.flags |= kFlagHasCorrelation;
    }
    const std::int64_t graph = row.graph.value_or(0);
    const std::int64_t node = row.graph_node.value_or(0);
    if (spec_.on_device && (graph != 0 || node != 0)) {
      record.external = static_cast<std::uint64_t>(graph != 0 ? graph : node);
      record.flags |= kFlagGraph;
    }
    record.value = row.bytes.value_or(0);
    if (spec_.kind == EventKind::kMemory && row.memory_operation == 1 && record.value > 0) {
      record.value = -record.value;  // given back
    }
    if (spec_.kind == EventKind::kApiCall) {
      record.value = row.return_value.value_or(0);
      if (row.event_class == 1) record.flags |= kFlagDriver;
      if (record.value != 0) record.flags |= kFlagFailed;
    }
  }

  TrackId track(const NsysRow& row) {
    if (!spec_.on_device || !row.device) {
      return import_.host_track(row.thread.value_or(row.process.value_or(0)));
    }
    TrackRecord track;
    track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
    track.pid = process_of(row);
    track.device = static_cast<std::int32_t>(*row.device);
    track.context = row.context.value_or(-1);
    track.stream = row.stream.value_or(-1);
    track.device_label = import_.writer.intern(std::to_string(*row.device));
    if (row.stream) track.stream_label = import_.writer.intern(std::to_string(*row.stream));
    return import_.writer.track(track);
  }

  std::int64_t process_of(const NsysRow& row) {
    if (row.process) return global_pid(*row.process);
    if (!only_process_) only_process_ = only_calling_process(import_.database);
    return *only_process_;
  }

  StringId name(const NsysRow& row, EventRecord& record) {
    std::string_view text = row.name ? import_.database.string(*row.name) : std::string_view{};
    if (!text.empty()) return import_.intern(text, record);
    const std::string made_up = made_up_name(spec_.kind, row);
    return import_.intern(made_up.empty() ? std::string_view(table_) : made_up, record);
  }

  // As PyTorch's profiler writes it.
  static void append_launch(NsysRow& row) {
    const auto append = [&](std::string_view key, const std::optional<std::int64_t>(&size)[3]) {
      if (!size[0]) return;
      begin_member(row.attrs, key);
      for (int i = 0; i < 3; ++i) {
        row.attrs += i == 0 ? '[' : ',';
        row.attrs += std::to_string(size[i].value_or(1));
      }
      row.attrs += ']';
    };
    append("grid", row.grid);
    append("block", row.block);
  }

  // Says which call and stream recorded the event that a synchronisation waits for, in the words of
  // PyTorch's profiler. By eventSyncId: handles of events (eventId) are used again.
  Status append_recorder(NsysRow& row) {
    if (table_ != "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" || row.event_sync.value_or(0) == 0) {
      return {};
    }
    if (!recorders_loaded_) TELLER_CHECK_OK(as_far_as_read(load_recorders()));
    const auto found = recorders_.find({process_of(row), *row.event_sync});
    if (found == recorders_.end()) return {};
    begin_member(row.attrs, "wait_on_cuda_event_record_corr_id");
    row.attrs += std::to_string(found->second.first);
    begin_member(row.attrs, "wait_on_stream");
    row.attrs += std::to_string(found->second.second);
    return {};
  }

  // Damage of a table that only adds to this one's rows is noted, and costs them what it would add.
  Status as_far_as_read(Status loaded) {
    if (loaded || loaded.error().code != ErrorCode::kCorrupt) return loaded;
    import_.truncated_reason = loaded.error().message;
    return {};
  }

  Status load_recorders() {
    recorders_loaded_ = true;
    constexpr const char* kTable = "CUPTI_ACTIVITY_KIND_CUDA_EVENT";
    if (!import_.database.has_table(kTable)) return {};
    TELLER_TRY(NsysQuery events, import_.database.rows(kTable));
    const NsysRowReader reader(events, import_.database);
    NsysRow row;
    while (true) {
      TELLER_TRY(const bool more, events.step());
      if (!more) return {};
      reader.read(row);
      if (!row.event_sync || !row.correlation || !row.stream) continue;
      recorders_.emplace(std::pair(process_of(row), *row.event_sync),
                         std::pair(*row.correlation, *row.stream));
    }
  }

  // The time of a CUDA event is 0 if it was not collected: then that of the call that recorded it.
  Status find_event_time(NsysRow& row, EventRecord& record) {
    if (row.start_unread || row.start.value_or(0) != 0) return {};
    if (!calls_loaded_) TELLER_CHECK_OK(as_far_as_read(load_calls()));
    const std::int64_t correlation = row.correlation.value_or(-1);
    const auto call = call_starts_.find({process_of(row), correlation});
    row.start = call == call_starts_.end() ? std::nullopt : std::optional(call->second);
    record.flags |= kFlagRepaired;
    ++import_.counts.clipped;
    return {};
  }

  Status load_calls() {
    calls_loaded_ = true;
    if (!import_.database.has_table("CUPTI_ACTIVITY_KIND_RUNTIME")) return {};
    TELLER_TRY(NsysQuery calls,
               import_.database.query("SELECT globalTid, correlationId, start FROM "
                                      "CUPTI_ACTIVITY_KIND_RUNTIME"));
    while (true) {
      TELLER_TRY(const bool more, calls.step());
      if (!more) return {};
      const auto thread = calls.number(0);
      const auto correlation = calls.number(1);
      const auto start = calls.number(2);
      if (!thread || !correlation || !start) continue;
      call_starts_.emplace(std::pair(global_pid(*thread), *correlation), *start);
    }
  }

  NsysImport& import_;
  const std::string& table_;
  TableSpec spec_;
  StringId category_;
  std::optional<std::int64_t> only_process_;  // asked for once
  bool calls_loaded_ = false;
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> call_starts_;
  bool recorders_loaded_ = false;
  // By process and eventSyncId: correlation id and stream of the call that recorded the event.
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<std::int64_t, std::int64_t>> recorders_;
};

}  // namespace

bool is_nsys_event_table(std::string_view table) {
  return spec_of(table) != nullptr || table.starts_with("CUPTI_ACTIVITY_KIND_");
}

Status import_nsys_tables(NsysImport& import) {
  for (const std::string& table : import.database.tables()) {
    if (!is_nsys_event_table(table)) continue;
    const TableSpec* spec = spec_of(table);
    const TableSpec unknown{table, EventKind::kUnknown, 0, true};
    Status status = TableImport(import, table, spec != nullptr ? *spec : unknown).run();
    if (status) continue;
    if (status.error().code != ErrorCode::kCorrupt) return status;
    import.truncated_reason = status.error().message;
    if (!import.request.allow_truncated) return {};
  }
  return {};
}

}  // namespace teller
