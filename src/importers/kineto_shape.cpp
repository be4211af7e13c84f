#include "importers/kineto_shape.h"

#include <algorithm>

#include "base/json.h"
#include "importers/decimal_time.h"
#include "importers/json_text.h"
#include "importers/kineto_id.h"
#include "importers/kineto_text.h"
#include "importers/plain_json.h"

namespace teller {

namespace {

// The list of META where what a metadata event says goes; "" for those that only matter to viewers.
std::string_view names_list(std::string_view event) {
  if (event == "thread_name") return "thread_names";
  if (event == "process_name") return "process_names";
  return event == "process_labels" ? "process_labels" : "";
}

}  // namespace

const char* KinetoShaper::plain_events(const char* at, const char* stop, const char* end,
                                       std::size_t event_bytes, ShapedEvents& out) {
  text_repaired_ = false;
  for (;;) {
    for (at = plain_json::skip_blank(at, end); at < end && *at == ',';) {
      at = plain_json::skip_blank(at + 1, end);
    }
    if (at >= stop || *at != '{') break;
    const std::size_t size = plain_.parse({at, static_cast<std::size_t>(end - at)}, event_);
    if (size == 0 || size > event_bytes) break;
    static_cast<void>(shape(out));  // nothing in a plain event is broken
    at += size;
  }
  return std::min(at, end);
}

bool KinetoShaper::event(std::string_view text, ShapedEvents& out) {
  text_repaired_ = false;
  KinetoEventParser::Outcome outcome = parser_.parse(text, event_);
  needs_repair_ = outcome == KinetoEventParser::Outcome::kNeedsRepair ||
                  (outcome == KinetoEventParser::Outcome::kMalformed && may_be_mended(text));
  if (outcome == KinetoEventParser::Outcome::kGood && shape(out)) return true;
  if (!needs_repair_) return false;
  text_repaired_ = true;
  repaired_text_ = repair_json(text);
  const std::size_t size = repaired_text_.size();
  repaired_text_.append(KinetoEventParser::kPadding, ' ');
  outcome = parser_.parse(std::string_view(repaired_text_).substr(0, size), event_);
  return outcome == KinetoEventParser::Outcome::kGood && shape(out);
}

// Appends event_ to `out`; false if an argument is broken (nothing is appended then).
bool KinetoShaper::shape(ShapedEvents& out) {
  attrs_.begin(out.attrs);
  attrs_bad_ = false;
  mended_ = false;
  needs_repair_ = false;
  clipped_ = 0;
  shape_phase(out);
  if (attrs_bad_) {
    attrs_.drop();
    return false;
  }
  ++out.records;
  out.clipped += clipped_;
  if (text_repaired_ || mended_) ++out.repaired;
  return true;
}

void KinetoShaper::shape_phase(ShapedEvents& out) {
  switch (event_.ph.size() == 1 ? event_.ph[0] : '\0') {
    case 'X':
      return complete(out);
    case 'M':
      return metadata(out);
    case 's':
      return flow(EventKind::kFlowStart, out);
    case 't':
    case 'f':
      return flow(EventKind::kFlowEnd, out);
    case 'B':
      return simple(EventKind::kRangePush, out);
    case 'E':
      return simple(EventKind::kRangePop, out);
    case 'b':
    case 'S':
      return simple(EventKind::kRangeStart, out);
    case 'e':
    case 'F':
      return simple(EventKind::kRangeEnd, out);
    case 'i':
    case 'I':
    case 'R':
    case 'n':
      return simple(EventKind::kMark, out);
    case 'C':
      return simple(EventKind::kCounter, out);
    default:
      return unknown_phase(out);
  }
}

std::uint32_t KinetoShaper::category(std::string_view text) {
  // Traces have a handful of them.
  const std::size_t near = std::min<std::size_t>(categories_.size(), 12);
  for (std::size_t i = 0; i < near; ++i) {
    if (plain_json::same_text(categories_[i].text, text)) return static_cast<std::uint32_t>(i);
  }
  const auto found = category_index_.find(text);
  if (found != category_index_.end()) return found->second;
  const auto number = static_cast<std::uint32_t>(categories_.size());
  category_index_.emplace(text, number);
  categories_.push_back({std::string(text), kineto_category(text)});
  tables_.add_category(categories_.back());
  text_bytes_ += text.size();
  return number;
}

bool KinetoShaper::set_begin(EventRecord& record) const {
  const auto begin = decimal_us_to_ns(event_.ts);
  if (!begin || *begin == kOpenNs) return false;
  record.begin_ns = record.end_ns = *begin;
  return true;
}

// Without a duration the event had not ended when the trace was written.
bool KinetoShaper::set_end(EventRecord& record) const {
  record.end_ns = kOpenNs;
  if (event_.dur.data() == nullptr) return true;
  const auto duration = decimal_us_to_ns(event_.dur);
  if (!duration || *duration < 0 || event_.dur.front() == '-') return false;
  return !__builtin_add_overflow(record.begin_ns, *duration, &record.end_ns) &&
         record.end_ns != kOpenNs;
}

void KinetoShaper::complete(ShapedEvents& out) {
  EventRecord record;
  if (!set_begin(record) || !set_end(record)) {
    ++out.malformed;
    return;
  }
  record.category = category(event_.cat);
  const KinetoCategory meaning = categories_[record.category].meaning.value_or(KinetoCategory{});
  record.kind = static_cast<std::uint16_t>(meaning.kind);
  record.flags = meaning.flags;
  const Arguments arguments = sort_arguments(meaning.kind, meaning.on_device, record);
  if (attrs_bad_) return;
  if (wants_operators_ && meaning.kind == EventKind::kRange) note_operator(record, out);
  keep(record, meaning.on_device ? ShapedAs::kDevice : ShapedAs::kHost, arguments.place, out);
}

// Operators and annotations alike have a number of their call.
void KinetoShaper::note_operator(const EventRecord& record, ShapedEvents& out) const {
  for (const JsonField& field : event_.args) {
    if (field.id != KinetoKey::kRecordFunctionId) continue;
    ShapedOperator one;
    one.time = {record.begin_ns, record.end_ns, 0, operator_name_hash(event_.name)};
    if (!parse_number(scalar_text(field.value), one.id) || one.id == 0) return;
    if (!parse_number(event_.pid, one.pid) || !parse_number(event_.tid, one.time.tid)) return;
    out.operators.push_back(one);
  }
}

// False if the event has an id that can't be read.
bool KinetoShaper::set_pair_id(EventRecord& record) const {
  const KinetoId id = kineto_id(event_);
  if (id.state == KinetoId::State::kGood) {
    record.correlation = id.number;
    record.flags |= kFlagHasCorrelation;
  }
  return id.state != KinetoId::State::kUnreadable;
}

void KinetoShaper::flow(EventKind kind, ShapedEvents& out) {
  EventRecord record;
  if (!set_begin(record)) {
    ++out.malformed;
    return;
  }
  record.kind = static_cast<std::uint16_t>(kind);
  record.category = category(event_.cat.empty() ? event_.name : event_.cat);
  if (!set_pair_id(record)) {
    ++out.malformed;
    return;
  }
  const Arguments arguments = sort_arguments(kind, false, record);
  if (!attrs_bad_) keep(record, ShapedAs::kFlow, arguments.place, out);
}

void KinetoShaper::simple(EventKind kind, ShapedEvents& out) {
  EventRecord record;
  if (!set_begin(record)) {
    ++out.malformed;
    return;
  }
  record.kind = static_cast<std::uint16_t>(kind);
  record.category = category(event_.cat);
  const std::optional<KinetoCategory>& meaning = categories_[record.category].meaning;
  if (kind == EventKind::kRangePush && meaning) record.flags |= meaning->flags;
  const Arguments arguments = sort_arguments(kind, false, record);
  if (attrs_bad_) return;
  // Only what has two ends is paired by its id: with one that nobody can read, by chance.
  const bool paired = kind == EventKind::kRangeStart || kind == EventKind::kRangeEnd;
  if (!set_pair_id(record) && paired) {
    attrs_.drop();
    ++out.malformed;
    return;
  }
  keep(record, ShapedAs::kSimple, arguments.place, out);
}

// Kept with its phase in attrs, so that nothing mistakes it for a complete event.
void KinetoShaper::unknown_phase(ShapedEvents& out) {
  EventRecord record;
  if (event_.ph.empty() || !set_begin(record)) {
    ++out.malformed;
    return;
  }
  record.kind = static_cast<std::uint16_t>(EventKind::kUnknown);
  record.category = category(event_.cat);
  member_ = "\"ph\":";
  append_quoted(event_.ph, member_);
  attrs_.add(member_);
  const Arguments arguments = sort_arguments(EventKind::kUnknown, false, record);
  if (attrs_bad_) return;
  out.unknown_phases.emplace_back(event_.ph);
  keep(record, ShapedAs::kUnknownPhase, arguments.place, out);
}

// Names and labels of processes and threads stand behind the events in most files, when tracks are
// long written; so they go to META.
void KinetoShaper::metadata(ShapedEvents& out) {
  for (const JsonField& field : event_.args) {
    if (json_depth_within(field.value, kMaxJsonDepth)) continue;
    attrs_bad_ = true;
    return;
  }
  ++out.metadata;
  std::string value;
  for (const JsonField& field : event_.args) {
    if (field.id != KinetoKey::kName && field.id != KinetoKey::kLabels) continue;
    value.clear();
    const auto body = string_body(field.value);
    if (!body || !append_unescaped(*body, value)) value = std::string(field.value);
  }
  const std::string_view list = names_list(event_.name);
  if (list.empty() || value.empty()) return;
  out.names.push_back({list, std::string(event_.pid), std::string(event_.tid), std::move(value)});
}

void KinetoShaper::forget() {
  tables_.forget();
  names_ = Interner();
  names_told_ = names_.size();
  places_ = KinetoPlaces();
  places_told_ = 0;
  categories_.clear();
  category_index_.clear();
  text_bytes_ = 0;
}

void KinetoShaper::keep(EventRecord& record, ShapedAs as, const KinetoPlace& place,
                        ShapedEvents& out) {
  record.name = names_.intern(event_.name);
  if (record.name == names_told_) {
    tables_.add_name(names_.view(record.name));
    ++names_told_;
    text_bytes_ += event_.name.size();
  }
  record.track = places_.number(place);
  if (record.track == places_told_) {
    tables_.add_place(places_[record.track]);
    ++places_told_;
    text_bytes_ += place.pid.size() + place.tid.size() + place.device.size() + place.stream.size() +
                   place.context.size();
  }
  if (text_repaired_) record.flags |= kFlagRepaired;
  if (!attrs_.empty()) record.attrs = attrs_.close();
  out.events.push_back(record);
  out.as.push_back(as);
}

}  // namespace teller
