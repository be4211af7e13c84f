#include "importers/kineto_convert.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/bounded_counts.h"
#include "base/json.h"
#include "importers/decimal_time.h"
#include "importers/json_text.h"
#include "importers/plain_json.h"

namespace teller {

namespace {

constexpr std::size_t kNamesLimit = 16u << 20;

// The text of a JSON scalar: strings without quotes.
std::string_view scalar_text(std::string_view raw) {
  return string_body(raw).value_or(raw);
}

template <typename Number>
bool parse_number(std::string_view text, Number& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

// Whether the text holds what repair_json() takes out of an object's structure.
bool may_be_mended(std::string_view text) {
  for (std::size_t at = text.find_first_of(",/"); at != std::string_view::npos;
       at = text.find_first_of(",/", at + 1)) {
    if (text[at] == '/') return true;
    const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
    if (next != std::string_view::npos && (text[next] == '}' || text[next] == ']')) return true;
  }
  return false;
}

// A number that stands for an id that is text.
std::uint64_t hash_id(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

// The id of a flow or an asynchronous range: a number, hexadecimal text or any text.
std::uint64_t parse_id(std::string_view text) {
  std::uint64_t id = 0;
  if (parse_number(text, id)) return id;
  if (text.substr(0, 2) == "0x") {
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + 2, last, id, 16);
    if (error == std::errc{} && end == last) return id;
  }
  return hash_id(text);
}

}  // namespace

KinetoConverter::KinetoConverter(EventFileWriter& writer, OperatorTimes* operators)
    : writer_(writer), operators_(operators), tracks_(writer) {}

void KinetoConverter::lost(std::uint64_t count) {
  counts_.records += count;
  counts_.malformed += count;
}

nlohmann::ordered_json KinetoConverter::complete_events() const {
  CountsByText sorted;
  for (const CategoryEntry& entry : categories_) {
    if (entry.complete > 0) sorted[entry.text] = entry.complete;
  }
  return bounded_counts(std::move(sorted));
}

Result<std::size_t> KinetoConverter::plain_events(std::string_view text, std::size_t event_bytes) {
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  text_repaired_ = false;
  for (;;) {
    for (at = plain_json::skip_blank(at, end); at < end && *at == ',';) {
      at = plain_json::skip_blank(at + 1, end);
    }
    if (at >= end || *at != '{') break;
    const std::size_t size = plain_.parse({at, static_cast<std::size_t>(end - at)}, event_);
    if (size == 0 || size > event_bytes) break;
    ++counts_.records;
    TELLER_TRY(const bool done, convert());
    static_cast<void>(done);  // nothing in a plain event is broken
    at += size;
  }
  return static_cast<std::size_t>(std::min(at, end) - text.data());
}

Result<bool> KinetoConverter::event(std::string_view text) {
  ++counts_.records;
  text_repaired_ = false;
  KinetoEventParser::Outcome outcome = parser_.parse(text, event_);
  needs_repair_ = outcome == KinetoEventParser::Outcome::kNeedsRepair ||
                  (outcome == KinetoEventParser::Outcome::kMalformed && may_be_mended(text));
  if (outcome == KinetoEventParser::Outcome::kGood) {
    TELLER_TRY(const bool done, convert());
    if (done) return true;
  }
  if (needs_repair_) {
    text_repaired_ = true;
    repaired_text_ = repair_json(text);
    const std::size_t size = repaired_text_.size();
    repaired_text_.append(KinetoEventParser::kPadding, ' ');
    outcome = parser_.parse(std::string_view(repaired_text_).substr(0, size), event_);
    if (outcome == KinetoEventParser::Outcome::kGood) {
      TELLER_TRY(const bool done, convert());
      if (done) return true;
    }
  }
  ++counts_.malformed;
  return false;
}

// Writes event_ and counts it; false if an argument is broken (nothing is written then).
Result<bool> KinetoConverter::convert() {
  EventRecord record;
  attrs_.clear();
  attrs_bad_ = false;
  mended_ = false;
  if (text_repaired_) record.flags |= kFlagRepaired;
  needs_repair_ = false;
  Status status;
  const char phase = event_.ph.size() == 1 ? event_.ph[0] : '\0';
  switch (phase) {
    case 'X':
      status = complete(record);
      break;
    case 'M':
      return metadata();
    case 's':
      status = flow(record, EventKind::kFlowStart);
      break;
    case 't':
    case 'f':
      status = flow(record, EventKind::kFlowEnd);
      break;
    case 'B':
      status = simple(record, EventKind::kRangePush);
      break;
    case 'E':
      status = simple(record, EventKind::kRangePop);
      break;
    case 'b':
    case 'S':
      status = simple(record, EventKind::kRangeStart);
      break;
    case 'e':
    case 'F':
      status = simple(record, EventKind::kRangeEnd);
      break;
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      status = simple(record, EventKind::kMark);
      break;
    case 'C':
      status = simple(record, EventKind::kCounter);
      break;
    default:
      status = unknown_phase(record);
  }
  if (!status) return status.error();
  if (attrs_bad_) return false;
  if (text_repaired_ || mended_) ++counts_.repaired;
  return true;
}

KinetoConverter::CategoryEntry& KinetoConverter::category(std::string_view text) {
  // Traces have a handful of them.
  const std::size_t near = std::min<std::size_t>(categories_.size(), 12);
  for (std::size_t i = 0; i < near; ++i) {
    if (plain_json::same_text(categories_[i].text, text)) return categories_[i];
  }
  const auto found = category_index_.find(text);
  if (found != category_index_.end()) return categories_[found->second];
  category_index_.emplace(text, categories_.size());
  return categories_.emplace_back(
      CategoryEntry{std::string(text), writer_.intern(text), kineto_category(text), 0, 0});
}

bool KinetoConverter::set_begin(EventRecord& record) const {
  const auto begin = decimal_us_to_ns(event_.ts);
  if (!begin || *begin == kOpenNs) return false;
  record.begin_ns = record.end_ns = *begin;
  return true;
}

// Without a duration the event had not ended when the trace was written.
bool KinetoConverter::set_end(EventRecord& record) const {
  record.end_ns = kOpenNs;
  if (event_.dur.data() == nullptr) return true;
  const auto duration = decimal_us_to_ns(event_.dur);
  if (!duration || *duration < 0 || event_.dur.front() == '-') return false;
  return !__builtin_add_overflow(record.begin_ns, *duration, &record.end_ns) &&
         record.end_ns != kOpenNs;
}

Status KinetoConverter::malformed() {
  ++counts_.malformed;
  return {};
}

Status KinetoConverter::complete(EventRecord& record) {
  if (!set_begin(record) || !set_end(record)) return malformed();
  CategoryEntry& entry = category(event_.cat);
  const KinetoCategory meaning = entry.meaning.value_or(KinetoCategory{});
  record.kind = static_cast<std::uint16_t>(meaning.kind);
  record.flags |= meaning.flags;
  record.category = entry.id;
  const Arguments arguments = sort_arguments(meaning.kind, meaning.on_device, record);
  if (attrs_bad_) return {};
  record.track =
      meaning.on_device ? tracks_.device(arguments.place) : tracks_.host(arguments.place);
  ++entry.complete;
  if (entry.meaning) {
    ++counts_.events;
  } else {
    ++counts_.unknown[entry.text.empty() ? "(no category)" : entry.text];
  }
  if (operators_ != nullptr && meaning.kind == EventKind::kRange) note_operator(record);
  return write(record);
}

// Operators and annotations alike have a number of their call.
void KinetoConverter::note_operator(const EventRecord& record) {
  for (const JsonField& field : event_.args) {
    if (field.id != KinetoKey::kRecordFunctionId) continue;
    std::uint64_t id = 0;
    OperatorTime time{record.begin_ns, record.end_ns, 0, operator_name_hash(event_.name)};
    std::int64_t pid = 0;
    if (!parse_number(scalar_text(field.value), id) || id == 0) return;
    if (!parse_number(event_.pid, pid) || !parse_number(event_.tid, time.tid)) return;
    operators_->add(pid, id, time);
  }
}

Status KinetoConverter::flow(EventRecord& record, EventKind kind) {
  if (!set_begin(record)) return malformed();
  record.kind = static_cast<std::uint16_t>(kind);
  record.category = category(event_.cat.empty() ? event_.name : event_.cat).id;
  record.correlation = parse_id(event_.id);
  if (!event_.id.empty()) record.flags |= kFlagHasCorrelation;
  const Arguments arguments = sort_arguments(kind, false, record);
  if (attrs_bad_) return {};
  record.track = tracks_.flow(arguments.place);
  ++counts_.flows;
  return write(record);
}

Status KinetoConverter::simple(EventRecord& record, EventKind kind) {
  if (!set_begin(record)) return malformed();
  record.kind = static_cast<std::uint16_t>(kind);
  const CategoryEntry& entry = category(event_.cat);
  record.category = entry.id;
  if (kind == EventKind::kRangePush && entry.meaning) record.flags |= entry.meaning->flags;
  const Arguments arguments = sort_arguments(kind, false, record);
  if (attrs_bad_) return {};
  record.track = tracks_.flow(arguments.place);
  if (!event_.id.empty()) {
    record.correlation = parse_id(event_.id);
    record.flags |= kFlagHasCorrelation;
  }
  ++counts_.events;
  return write(record);
}

// Kept with its phase in attrs, so that nothing mistakes it for a complete event.
Status KinetoConverter::unknown_phase(EventRecord& record) {
  if (event_.ph.empty() || !set_begin(record)) return malformed();
  record.kind = static_cast<std::uint16_t>(EventKind::kUnknown);
  record.category = category(event_.cat).id;
  member_ = "\"ph\":";
  append_quoted(event_.ph, member_);
  attrs_.add(member_);
  const Arguments arguments = sort_arguments(EventKind::kUnknown, false, record);
  if (attrs_bad_) return {};
  record.track = tracks_.host(arguments.place);
  ++counts_.unknown["ph:" + std::string(event_.ph)];
  return write(record);
}

// Names and labels of processes and threads stand behind the events in most files, when tracks are
// long written; so they go to META. Sort indices only matter to viewers. False if an argument is
// nested too deeply.
bool KinetoConverter::metadata() {
  for (const JsonField& field : event_.args) {
    if (!json_depth_within(field.value, kMaxJsonDepth)) return false;
  }
  ++counts_.metadata;
  if (names_bytes_ > kNamesLimit) return true;
  std::string value;
  for (const JsonField& field : event_.args) {
    if (field.id != KinetoKey::kName && field.id != KinetoKey::kLabels) continue;
    value.clear();
    const auto body = string_body(field.value);
    if (!body || !append_unescaped(*body, value)) value = std::string(field.value);
  }
  const std::string kind = event_.name == "thread_name"      ? "thread_names"
                           : event_.name == "process_name"   ? "process_names"
                           : event_.name == "process_labels" ? "process_labels"
                                                             : "";
  if (kind.empty() || value.empty()) return true;
  nlohmann::ordered_json entry;
  entry["pid"] = std::string(event_.pid);
  if (kind == "thread_names") entry["tid"] = std::string(event_.tid);
  entry["name"] = value;
  names_bytes_ += value.size() + 64;
  names_[kind].push_back(std::move(entry));
  return true;
}

// False if the argument has no field of its own.
bool KinetoConverter::take_argument(const JsonField& field, EventKind kind, bool on_device,
                                    Arguments& found) {
  switch (field.id) {
    case KinetoKey::kCorrelation:
      found.correlation = field.value;
      return true;
    case KinetoKey::kExternalId:
      if (found.graph.empty()) found.external = field.value;
      return found.graph.empty();
    case KinetoKey::kDevice:
      if (on_device) found.place.device = scalar_text(field.value);
      return on_device;
    case KinetoKey::kStream:
      if (on_device) found.place.stream = scalar_text(field.value);
      return on_device;
    case KinetoKey::kContext:
      if (on_device) found.place.context = scalar_text(field.value);
      return on_device;
    case KinetoKey::kBytes:
      if (kind != EventKind::kMemcpy && kind != EventKind::kMemset) return false;
      found.bytes = field.value;
      return true;
    case KinetoKey::kGraphId:
      return !found.graph.empty();
    default:
      return false;
  }
}

KinetoConverter::Arguments KinetoConverter::sort_arguments(EventKind kind, bool on_device,
                                                           EventRecord& record) {
  Arguments found;
  found.place.pid = event_.pid;
  found.place.tid = event_.tid;
  const bool activity =
      kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
  if (activity) {
    for (const JsonField& field : event_.args) {
      if (field.id == KinetoKey::kGraphId && field.value != "0") found.graph = field.value;
    }
  }
  for (const JsonField& field : event_.args) {
    if (take_argument(field, kind, on_device, found)) continue;
    if (kind == EventKind::kCounter && record.value == 0) {
      parse_number(field.value.substr(0, field.value.find_first_of(".eE")), record.value);
    }
    if (!append_field(field, record)) return found;
  }
  for (const JsonField& field : event_.extra) {
    if (!append_field(field, record)) return found;
  }
  set_ids(found, record);
  return found;
}

void KinetoConverter::set_ids(const Arguments& arguments, EventRecord& record) {
  if (!arguments.correlation.empty()) {
    record.flags |= kFlagHasCorrelation;
    set_number(arguments.correlation, record.correlation, record);
  }
  if (!arguments.graph.empty()) {
    record.flags |= kFlagGraph;
    set_number(arguments.graph, record.external, record);
  } else if (!arguments.external.empty()) {
    record.flags |= kFlagHasExternal;
    set_number(arguments.external, record.external, record);
  }
  if (!arguments.bytes.empty()) {
    std::uint64_t bytes = 0;
    set_number(arguments.bytes, bytes, record);
    record.value = static_cast<std::int64_t>(
        std::min<std::uint64_t>(bytes, std::numeric_limits<std::int64_t>::max()));
  }
}

// An id that is no number of 64 bits becomes the hash of its text, so that equal ids stay equal.
void KinetoConverter::set_number(std::string_view text, std::uint64_t& field, EventRecord& record) {
  text = scalar_text(text);
  std::int64_t negative = 0;
  if (parse_number(text, field)) return;
  if (parse_number(text, negative)) {
    field = static_cast<std::uint64_t>(negative);
    return;
  }
  field = hash_id(text);
  record.flags |= kFlagRepaired;
  ++counts_.clipped;
}

// Appends one member to attrs_. False if it is broken; then attrs_bad_ says so.
bool KinetoConverter::append_field(const JsonField& field, EventRecord& record) {
  if (field.compact) {
    attrs_.add_compact(field.key, field.value);
    return true;
  }
  CopyResult result = CopyResult::kClean;
  member_.clear();
  if (field.key.find('\\') != std::string_view::npos) {
    // The key lies in the event's text between its quotes.
    result = append_compact({field.key.data() - 1, field.key.size() + 2}, member_);
  } else {
    ((member_ += '"') += field.key) += '"';
  }
  member_ += ':';
  if (result == CopyResult::kClean) result = append_compact(field.value, member_);
  attrs_.add(member_);
  switch (result) {
    case CopyResult::kClean:
      return true;
    case CopyResult::kMended:
      record.flags |= kFlagRepaired;
      mended_ = true;
      return true;
    case CopyResult::kNeedsRepair:
      // Once is enough: what repair_json() made holds no wrong escapes.
      needs_repair_ = !text_repaired_;
      break;
    case CopyResult::kMalformed:
      needs_repair_ = !text_repaired_ && may_be_mended(field.value);
      break;
  }
  attrs_bad_ = true;
  return false;
}

Status KinetoConverter::write(EventRecord& record) {
  record.name = writer_.intern(event_.name);
  if (!attrs_.empty()) record.attrs = writer_.append_text(attrs_.close());
  first_ns_ = std::min(first_ns_.value_or(record.begin_ns), record.begin_ns);
  layers_.add(record);
  return writer_.add(record);
}

}  // namespace teller
