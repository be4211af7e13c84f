#include "importers/nsys_rows.h"

#include <simdjson.h>

#include "base/utf8.h"
#include "importers/json_text.h"

namespace teller {

namespace {

struct FieldColumn {
  std::string_view name;
  NsysField field;
  bool keep;  // a number with a meaning of its own: in attrs too
};

constexpr FieldColumn kFields[] = {
    {"start", &NsysRow::start, false},
    {"timestamp", &NsysRow::start, false},
    {"end", &NsysRow::end, false},
    {"deviceId", &NsysRow::device, false},
    {"contextId", &NsysRow::context, false},
    {"streamId", &NsysRow::stream, false},
    {"correlationId", &NsysRow::correlation, false},
    {"globalPid", &NsysRow::process, false},
    {"globalTid", &NsysRow::thread, false},
    {"nameId", &NsysRow::name, false},
    {"demangledName", &NsysRow::name, false},
    {"returnValue", &NsysRow::return_value, false},
    {"bytes", &NsysRow::bytes, false},
    {"graphId", &NsysRow::graph, true},
    {"graphNodeId", &NsysRow::graph_node, true},
    {"eventClass", &NsysRow::event_class, true},
    {"copyKind", &NsysRow::copy_kind, true},
    {"srcKind", &NsysRow::source_kind, true},
    {"dstKind", &NsysRow::target_kind, true},
    {"memKind", &NsysRow::memory_kind, true},
    {"syncType", &NsysRow::sync_type, true},
    {"overheadType", &NsysRow::overhead_type, true},
    {"eventSyncId", &NsysRow::event_sync, true},
    {"memoryOperationType", &NsysRow::memory_operation, true},
};

}  // namespace

void begin_member(std::string& attrs, std::string_view key) {
  attrs += attrs.empty() ? '{' : ',';
  append_quoted(key, attrs);
  attrs += ':';
}

NsysRowReader::Column NsysRowReader::column_for(int index, std::string_view name) {
  Column column;
  column.index = index;
  column.name = std::string(name);
  for (const FieldColumn& known : kFields) {
    if (known.name != name) continue;
    column.use = Use::kField;
    column.field = known.field;
    column.keep = known.keep;
    return column;
  }
  const std::string_view axes = "XYZ";
  const auto axis = name.empty() ? std::string_view::npos : axes.find(name.back());
  const std::string_view stem = name.substr(0, name.size() - 1);
  if (axis != std::string_view::npos && (stem == "grid" || stem == "block")) {
    column.use = stem == "grid" ? Use::kGrid : Use::kBlock;
    column.axis = static_cast<int>(axis);
  } else if (name == "shortName") {
    column.use = Use::kText;
  } else if (name == "mangledName") {
    column.use = Use::kLeftOut;  // the demangled name in another spelling
  }
  return column;
}

NsysRowReader::NsysRowReader(const NsysQuery& query, const NsysDatabase& database)
    : query_(query), database_(database) {
  for (int i = 0; i < query.columns(); ++i) columns_.push_back(column_for(i, query.column_name(i)));
}

void NsysRowReader::read(NsysRow& row) const {
  row = NsysRow{};
  for (const Column& column : columns_) {
    if (query_.is_null(column.index) || column.use == Use::kLeftOut) continue;
    const bool number = query_.is_integer(column.index);
    if (column.use == Use::kField && number) row.*column.field = query_.integer(column.index);
    if (column.field == &NsysRow::start && !number) row.start_unread = true;
    if (column.field == &NsysRow::end && !number) row.end_unread = true;
    if (column.use == Use::kGrid && number) row.grid[column.axis] = query_.integer(column.index);
    if (column.use == Use::kBlock && number) row.block[column.axis] = query_.integer(column.index);
    if (column.use == Use::kText && number) {
      begin_member(row.attrs, column.name);
      append_quoted(database_.string(query_.integer(column.index)), row.attrs);
    }
    // A value of a type that its field does not take is kept as it is.
    if (column.use == Use::kAttribute || column.keep || !number) {
      begin_member(row.attrs, column.name);
      query_.append_json(column.index, row.attrs);
    }
  }
}

TrackId NsysImport::host_track(std::int64_t id) {
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
  track.pid = global_pid(id);
  track.tid = global_tid(id);
  const auto name = thread_names.find(id);
  if (name != thread_names.end()) track.name = writer.intern(name->second);
  return writer.track(track);
}

StringId NsysImport::intern(std::string_view text, EventRecord& record) {
  if (simdjson::validate_utf8(text.data(), text.size())) return writer.intern(text);
  if ((record.flags & kFlagRepaired) == 0) ++counts.repaired;
  record.flags |= kFlagRepaired;
  std::string clean;
  append_valid_utf8(text, clean);
  return writer.intern(clean);
}

Status NsysImport::write(EventRecord& record, std::string& attrs) {
  if (!attrs.empty()) {
    attrs += '}';
    // Rows of one kernel or range say much the same; keeping what was said must have an end.
    constexpr std::size_t kInternLimit = 16u << 20;
    const bool known_soon = interned_attrs < kInternLimit;
    if (known_soon) interned_attrs += attrs.size();
    record.attrs = known_soon ? writer.intern(attrs) : writer.append_text(attrs);
  }
  layers.add(record);
  return writer.add(record);
}

}  // namespace teller
