// NVTX ranges and marks of Nsight Systems, with the names of their domains and categories.
#include <map>
#include <tuple>

#include "importers/json_text.h"
#include "importers/nsys_payload.h"
#include "importers/nsys_rows.h"

namespace teller {

namespace {

// NVTX_EVENTS.eventType (ENUM_NSYS_EVENT_TYPE).
enum EventType : std::int64_t {
  kCategoryName = 33,
  kMarkEvent = 34,
  kThreadName = 39,
  kPushPop = 59,
  kStartEnd = 60,
  kTextMark = 65,
  kTextPushPop = 70,
  kTextStartEnd = 71,
  kTextMetaFirst = 72,
  kDomainCreate = 75,
  kDomainDestroy = 76,
  kResourceFirst = 97,
  kResourceLast = 99,
};

bool is_metadata(std::int64_t type) {
  return type == kCategoryName || type == kThreadName ||
         (type >= kTextMetaFirst && type <= kDomainDestroy) ||
         (type >= kResourceFirst && type <= kResourceLast);
}

class NvtxImport {
 public:
  explicit NvtxImport(NsysImport& import)
      : import_(import),
        table_(import.writer.intern("NVTX_EVENTS")),
        nccl_(import.writer.intern("NCCL")) {}

  Status run() {
    TELLER_CHECK_OK(load_names());
    payloads_.load(import_.database);
    TELLER_TRY(NsysQuery query, import_.database.rows("NVTX_EVENTS"));
    find_columns(query);
    for (std::uint64_t done = 0;; ++done) {
      if (done % 4096 == 0 && stop_requested(import_.request)) {
        return interrupted_error(import_.request);
      }
      TELLER_TRY(const bool more, query.step());
      if (!more) return {};
      ++import_.counts.records;
      TELLER_CHECK_OK(add(query));
    }
  }

 private:
  // Columns with a field of their own; -1 if the table lacks one.
  struct Columns {
    int start = -1;
    int end = -1;
    int type = -1;
    int range = -1;
    int category = -1;
    int text = -1;
    int text_id = -1;
    int json_id = -1;
    int domain = -1;
    int thread = -1;
    int end_thread = -1;
    int binary = -1;
  };

  void find_columns(const NsysQuery& query) {
    columns_ = Columns{};
    const std::pair<std::string_view, int Columns::*> known[] = {
        {"start", &Columns::start},
        {"end", &Columns::end},
        {"eventType", &Columns::type},
        {"rangeId", &Columns::range},
        {"category", &Columns::category},
        {"text", &Columns::text},
        {"textId", &Columns::text_id},
        {"jsonTextId", &Columns::json_id},
        {"domainId", &Columns::domain},
        {"globalTid", &Columns::thread},
        {"endGlobalTid", &Columns::end_thread},
        {"binaryData", &Columns::binary}};
    others_.clear();
    numbers_.clear();
    for (int i = 0; i < query.columns(); ++i) {
      bool found = false;
      for (const auto& [name, member] : known) {
        if (query.column_name(i) != name) continue;
        columns_.*member = i;
        found = true;
      }
      if (!found) {
        others_.push_back(i);
      } else if (i != columns_.text && i != columns_.binary) {
        numbers_.push_back(i);
      }
    }
  }

  static std::optional<std::int64_t> number(const NsysQuery& query, int column) {
    return column < 0 ? std::nullopt : query.number(column);
  }

  std::string_view text(const NsysQuery& query) const {
    if (columns_.text >= 0 && !query.is_null(columns_.text)) return query.text(columns_.text);
    const auto id = number(query, columns_.text_id);
    return id ? import_.database.string(*id) : std::string_view{};
  }

  // Domains and categories are named by rows of the same table, per process.
  Status load_names() {
    TELLER_TRY(NsysQuery query,
               import_.database.query("SELECT * FROM NVTX_EVENTS WHERE eventType IN (33, 75)"));
    find_columns(query);
    while (true) {
      TELLER_TRY(const bool more, query.step());
      if (!more) return {};
      const std::int64_t pid = global_pid(number(query, columns_.thread).value_or(0));
      const std::int64_t domain = number(query, columns_.domain).value_or(0);
      if (number(query, columns_.type) == kDomainCreate) {
        domains_[{pid, domain}] = std::string(text(query));
      } else {
        const std::int64_t category = number(query, columns_.category).value_or(0);
        categories_[{pid, domain, category}] = std::string(text(query));
      }
    }
  }

  Status add(const NsysQuery& query) {
    const std::int64_t type = number(query, columns_.type).value_or(-1);
    if (is_metadata(type)) {
      ++import_.counts.metadata;
      return {};
    }
    EventRecord record;
    const bool range =
        type == kPushPop || type == kStartEnd || type == kTextPushPop || type == kTextStartEnd;
    const bool mark = type == kMarkEvent || type == kTextMark;
    const EventKind kind = range  ? EventKind::kRange
                           : mark ? EventKind::kMark
                                  : EventKind::kUnknown;
    record.kind = static_cast<std::uint16_t>(kind);
    if (!set_times(query, range, record)) {
      ++import_.counts.malformed;
      return {};
    }
    std::string attrs;
    if (kind == EventKind::kUnknown) {
      begin_member(attrs, "eventType");
      attrs += std::to_string(type);
    }
    if (type == kStartEnd || type == kTextStartEnd) set_range_id(query, record);
    record.track = import_.host_track(number(query, columns_.thread).value_or(0));
    record.name = import_.intern(text(query), record);
    set_domain_and_category(query, record, attrs);
    append_payload(query, record, attrs);
    append_others(query, attrs);
    if (kind == EventKind::kUnknown) {
      ++import_.counts.unknown["NVTX_EVENTS:" + std::to_string(type)];
    } else {
      ++import_.counts.events;
    }
    return import_.write(record, attrs);
  }

  bool set_times(const NsysQuery& query, bool range, EventRecord& record) const {
    const auto start = number(query, columns_.start);
    if (!start || *start == kOpenNs) return false;
    record.begin_ns = record.end_ns = *start;
    if (range && columns_.end >= 0 && !query.is_null(columns_.end)) {
      const auto end = query.number(columns_.end);
      if (!end || *end == kOpenNs) return false;  // not open: nobody knows
      record.end_ns = *end;
    } else if (range) {
      record.end_ns = kOpenNs;
    }
    return record.end_ns >= record.begin_ns;
  }

  // A range that any thread may end need not nest: its id tells it from a push/pop range.
  void set_range_id(const NsysQuery& query, EventRecord& record) const {
    record.correlation = static_cast<std::uint64_t>(number(query, columns_.range).value_or(0));
    record.flags |= kFlagHasCorrelation;
  }

  // The category is the table's name, but in teller's own domain, where it names the layer.
  void set_domain_and_category(const NsysQuery& query, EventRecord& record, std::string& attrs) {
    record.category = table_;
    const std::int64_t pid = global_pid(number(query, columns_.thread).value_or(0));
    const std::int64_t domain = number(query, columns_.domain).value_or(0);
    const auto named = domains_.find({pid, domain});
    if (named != domains_.end()) {
      record.domain = import_.intern(named->second, record);
    } else if (domain != 0) {
      record.domain = import_.intern("domain " + std::to_string(domain), record);
    }
    const auto category = number(query, columns_.category);
    if (!category) return;
    const auto name = categories_.find({pid, domain, *category});
    const bool own = named != domains_.end() && named->second == kTellerDomain;
    if (own && name != categories_.end()) {
      record.category = import_.intern(name->second, record);
      if (name->second == kCategoryRecord) make_step_record(query, record, attrs);
      return;
    }
    begin_member(attrs, "category");
    if (name != categories_.end()) {
      append_quoted(name->second, attrs);
    } else {
      attrs += std::to_string(*category);
    }
  }

  // The mark's message is the step's record.
  void make_step_record(const NsysQuery& query, EventRecord& record, std::string& attrs) const {
    std::string message;
    const std::string_view raw = text(query);
    if (!raw.starts_with('{') || append_compact(raw, message) != CopyResult::kClean) return;
    message.pop_back();  // write() closes the object
    record.kind = static_cast<std::uint16_t>(EventKind::kStepRecord);
    attrs = message;
  }

  // What no schema explains is kept by its length: the bytes themselves are no text.
  void append_payload(const NsysQuery& query, const EventRecord& record, std::string& attrs) {
    if (columns_.binary < 0 || query.is_null(columns_.binary)) return;
    if (!query.is_blob(columns_.binary)) {
      begin_member(attrs, "binaryData");
      query.append_json(columns_.binary, attrs);
      return;
    }
    const std::string_view bytes = query.bytes(columns_.binary);
    const bool nccl = record.domain != 0 && record.domain == nccl_;
    if (payloads_.append(bytes, nccl ? text(query) : std::string_view{}, attrs)) return;
    begin_member(attrs, "binaryDataBytes");
    attrs += std::to_string(bytes.size());
    ++import_.payloads_unknown;
  }

  void append_others(const NsysQuery& query, std::string& attrs) const {
    const auto thread = number(query, columns_.thread);
    const auto end_thread = number(query, columns_.end_thread);
    if (end_thread && end_thread != thread) {
      begin_member(attrs, "endTid");
      attrs += std::to_string(global_tid(*end_thread));
    }
    if (const auto id = number(query, columns_.json_id)) {
      begin_member(attrs, "jsonText");
      append_quoted(import_.database.string(*id), attrs);
    }
    for (int i : others_) {
      if (query.is_null(i)) continue;
      begin_member(attrs, query.column_name(i));
      query.append_json(i, attrs);
    }
    // A value of a type that its field does not take is kept as it is.
    for (int i : numbers_) {
      if (query.is_null(i) || query.is_integer(i)) continue;
      begin_member(attrs, query.column_name(i));
      query.append_json(i, attrs);
    }
  }

  NsysImport& import_;
  StringId table_;
  StringId nccl_;  // NCCL's domain
  NsysPayloads payloads_;
  Columns columns_;
  std::vector<int> others_;
  std::vector<int> numbers_;  // columns with a field of their own that takes integers
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> domains_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::string> categories_;
};

}  // namespace

Status import_nsys_nvtx(NsysImport& import) {
  if (!import.database.has_table("NVTX_EVENTS")) return {};
  Status status = NvtxImport(import).run();
  if (status || status.error().code != ErrorCode::kCorrupt) return status;
  import.truncated_reason = status.error().message;
  return {};
}

}  // namespace teller
