// The arguments of an event: those that have a field of their own, and the rest.
#include <algorithm>
#include <limits>

#include "importers/json_text.h"
#include "importers/kineto_shape.h"
#include "importers/kineto_text.h"

namespace teller {

// False if the argument has no field of its own.
bool KinetoShaper::take_argument(const JsonField& field, EventKind kind, bool on_device,
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

KinetoShaper::Arguments KinetoShaper::sort_arguments(EventKind kind, bool on_device,
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

void KinetoShaper::set_ids(const Arguments& arguments, EventRecord& record) {
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
void KinetoShaper::set_number(std::string_view text, std::uint64_t& field, EventRecord& record) {
  text = scalar_text(text);
  std::int64_t negative = 0;
  if (parse_number(text, field)) return;
  if (parse_number(text, negative)) {
    field = static_cast<std::uint64_t>(negative);
    return;
  }
  field = hash_id(text);
  record.flags |= kFlagRepaired;
  ++clipped_;
}

// Appends one member to attrs_. False if it is broken; then attrs_bad_ says so.
bool KinetoShaper::append_field(const JsonField& field, EventRecord& record) {
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

}  // namespace teller
