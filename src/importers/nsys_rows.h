// What the parts of the Nsight Systems importer share: where rows go, which tracks they lie on, and
// how a row's columns become fields and attrs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/nsys_database.h"
#include "importers/source_import.h"
#include "run_folder/event_file.h"

namespace teller {

// A serialised global id: process and thread of the operating system; the machine in the top bits.
constexpr std::int64_t global_pid(std::int64_t id) {
  return (id >> 24) & 0xFFFFFF;
}
constexpr std::int64_t global_tid(std::int64_t id) {
  return id & 0xFFFFFF;
}

// The state of one import.
struct NsysImport {
  const SourceRequest& request;
  NsysDatabase& database;
  EventFileWriter& writer;
  SourceCounts counts;
  std::unordered_map<std::int64_t, std::string> thread_names;  // globalTid -> name
  std::string truncated_reason;
  std::uint64_t payloads_unknown = 0;  // of NVTX events, without a schema that explains them
  std::size_t interned_attrs = 0;      // bytes of attrs given to the writer's table of strings
  LayerCounter layers{};

  // The track of a host thread.
  TrackId host_track(std::int64_t global_tid_value);
  // `text` as a string id; bytes that are no UTF-8 are replaced and counted.
  StringId intern(std::string_view text, EventRecord& record);
  Status write(EventRecord& record, std::string& attrs);
};

// What the columns of one row hold, by name; columns without a field of their own go to attrs.
struct NsysRow {
  std::optional<std::int64_t> start;
  std::optional<std::int64_t> end;
  bool start_unread = false;  // it states one that is no integer
  bool end_unread = false;
  std::optional<std::int64_t> device;
  std::optional<std::int64_t> context;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> correlation;
  std::optional<std::int64_t> process;  // globalPid
  std::optional<std::int64_t> thread;   // globalTid
  std::optional<std::int64_t> name;     // id in StringIds
  std::optional<std::int64_t> return_value;
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> graph;
  std::optional<std::int64_t> graph_node;
  std::optional<std::int64_t> event_class;
  std::optional<std::int64_t> copy_kind;
  std::optional<std::int64_t> source_kind;
  std::optional<std::int64_t> target_kind;
  std::optional<std::int64_t> memory_kind;
  std::optional<std::int64_t> sync_type;
  std::optional<std::int64_t> overhead_type;
  std::optional<std::int64_t> event_sync;        // eventSyncId
  std::optional<std::int64_t> memory_operation;  // of CUDA_GPU_MEMORY_USAGE_EVENTS
  std::optional<std::int64_t> grid[3];
  std::optional<std::int64_t> block[3];
  std::string attrs;  // '{' and members, without the closing brace; "" if there are none
};

using NsysField = std::optional<std::int64_t> NsysRow::*;

// Reads rows of one table into NsysRow.
class NsysRowReader {
 public:
  NsysRowReader(const NsysQuery& query, const NsysDatabase& database);
  void read(NsysRow& row) const;

 private:
  enum class Use { kField, kGrid, kBlock, kText, kLeftOut, kAttribute };
  struct Column {
    int index = 0;
    Use use = Use::kAttribute;
    NsysField field = nullptr;
    int axis = 0;
    bool keep = false;  // goes to attrs too
    std::string name;
  };
  static Column column_for(int index, std::string_view name);

  const NsysQuery& query_;
  const NsysDatabase& database_;
  std::vector<Column> columns_;
};

// Begins the next member of an object under construction.
void begin_member(std::string& attrs, std::string_view key);

Status import_nsys_tables(NsysImport& import);
Status import_nsys_nvtx(NsysImport& import);
// Whether import_nsys_tables() reads this table.
bool is_nsys_event_table(std::string_view table);

}  // namespace teller
