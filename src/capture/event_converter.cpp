#include "capture/event_converter.h"

#include <cstring>
#include <utility>

#include "capture/teller_names.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;
using ring::RecordHeader;
using ring::RecordType;

namespace {

// Reads a fixed part from the front of `payload`.
template <typename Fixed>
bool take(std::string_view& payload, Fixed* fixed) {
  if (payload.size() < sizeof *fixed) return false;
  std::memcpy(fixed, payload.data(), sizeof *fixed);
  payload.remove_prefix(sizeof *fixed);
  return true;
}

bool take_text(std::string_view payload, std::uint32_t bytes, std::string_view* text) {
  if (payload.size() < bytes) return false;
  *text = payload.substr(0, bytes);
  return true;
}

EventKind kind_of(RecordType type) {
  switch (type) {
    case RecordType::kPush:
      return EventKind::kRangePush;
    case RecordType::kPop:
      return EventKind::kRangePop;
    case RecordType::kMark:
      return EventKind::kMark;
    case RecordType::kStart:
      return EventKind::kRangeStart;
    case RecordType::kEnd:
      return EventKind::kRangeEnd;
    default:
      return EventKind::kUnknown;
  }
}

EventKind kind_of(ring::DeviceKind kind) {
  switch (kind) {
    case ring::DeviceKind::kKernel:
      return EventKind::kKernel;
    case ring::DeviceKind::kMemcpy:
      return EventKind::kMemcpy;
    case ring::DeviceKind::kMemset:
      return EventKind::kMemset;
    case ring::DeviceKind::kSync:
      return EventKind::kSync;
    case ring::DeviceKind::kOverhead:
      return EventKind::kOverhead;
  }
  return EventKind::kUnknown;
}

std::int64_t time_of(std::uint64_t ns) {
  return static_cast<std::int64_t>(ns);
}

}  // namespace

EventConverter::EventConverter(EventFileWriter file, std::int64_t pid)
    : file_(std::move(file)), pid_(pid), tracks_(ring::kMaxRings, 0) {}

void EventConverter::keep(Status status) {
  if (!status && status_) status_ = std::move(status);
}

void EventConverter::add(const EventRecord& event) {
  if (!status_) return;
  keep(file_.add(event));
  ++counts_.records;
}

void EventConverter::on_definition(ring::DefinitionKind kind, std::uint32_t domain,
                                   std::uint64_t id, std::string_view text) {
  const auto number = static_cast<std::uint32_t>(id);
  switch (kind) {
    case ring::DefinitionKind::kDomain:
      domains_[number] = text;
      return;
    case ring::DefinitionKind::kCategory:
      categories_[{domain, number}] = text;
      return;
    case ring::DefinitionKind::kString:
      strings_[number] = text;
      return;
    case ring::DefinitionKind::kThreadName:
      thread_names_[std::to_string(number)] = text;
      return;
    case ring::DefinitionKind::kNote:
      return on_note(text);
    case ring::DefinitionKind::kUnpublished:
      break;
  }
  ++counts_.invalid;
}

void EventConverter::on_note(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return;
  const std::string key(text.substr(0, equals));
  notes_[key] = text.substr(equals + 1);
  write_meta({{key, notes_[key]}});
}

// At once: a reader of a run whose recorder died should know it too.
void EventConverter::write_meta(const Json& meta) {
  if (status_) keep(file_.write_meta(meta.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

void EventConverter::on_record(std::uint32_t ring, const RecordHeader& header,
                               std::string_view payload) {
  if (!status_) return;
  switch (static_cast<RecordType>(header.type)) {
    case RecordType::kThread:
      return on_thread(ring, payload);
    case RecordType::kPush:
    case RecordType::kPop:
    case RecordType::kMark:
    case RecordType::kStart:
    case RecordType::kEnd:
      return on_text(ring, header, payload);
    case RecordType::kApiCall:
      return on_api(ring, header, payload);
    case RecordType::kDevice:
      return on_device(payload);
    case RecordType::kPad:
      break;
  }
  ++counts_.invalid;
}

void EventConverter::on_thread(std::uint32_t ring, std::string_view payload) {
  ring::ThreadRecord thread{};
  std::string_view name;
  if (!take(payload, &thread) || !take_text(payload, thread.name_bytes, &name)) {
    ++counts_.invalid;
    return;
  }
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
  track.pid = pid_;
  track.tid = static_cast<std::int64_t>(thread.tid);
  track.name = file_.intern(name);
  tracks_[ring] = file_.track(track);
}

// Fills in what a TextRecord says; `text` is the message.
bool EventConverter::read_text(const RecordHeader& header, std::string_view payload,
                               EventRecord* event, std::string_view* text) {
  ring::TextRecord fixed{};
  std::uint64_t value = 0;
  if (!take(payload, &fixed)) return false;
  if ((header.flags & ring::kHasId) != 0 && !take(payload, &event->correlation)) return false;
  if ((header.flags & ring::kHasValue) != 0 && !take(payload, &value)) return false;
  if ((header.flags & ring::kRegistered) != 0) {
    const auto found = strings_.find(fixed.text);
    if (found != strings_.end()) *text = found->second;
  } else if (!take_text(payload, fixed.text, text)) {
    return false;
  }
  if ((header.flags & ring::kHasValue) != 0) set_value_attrs(header.flags, value, event);
  if ((header.flags & ring::kCut) != 0) event->flags |= kFlagRepaired;
  const auto domain = domains_.find(fixed.domain);
  if (domain != domains_.end()) event->domain = file_.intern(domain->second);
  if (fixed.category != 0) {
    event->category = file_.intern(category_text(fixed.domain, fixed.category));
  }
  return true;
}

void EventConverter::set_value_attrs(std::uint16_t flags, std::uint64_t value, EventRecord* event) {
  Json payload;
  if ((flags & ring::kValueFloat) != 0) {
    double number = 0;
    std::memcpy(&number, &value, sizeof number);
    payload["payload"] = number;
  } else if ((flags & ring::kValueSigned) != 0) {
    payload["payload"] = static_cast<std::int64_t>(value);
  } else {
    payload["payload"] = value;
  }
  event->attrs = file_.intern(payload.dump());
}

// The category's name, or its number where it has none.
std::string EventConverter::category_text(std::uint32_t domain, std::uint32_t category) const {
  const auto found = categories_.find({domain, category});
  return found == categories_.end() ? std::to_string(category) : found->second;
}

void EventConverter::on_text(std::uint32_t ring, const RecordHeader& header,
                             std::string_view payload) {
  const auto type = static_cast<RecordType>(header.type);
  EventRecord event;
  std::string_view text;
  event.kind = static_cast<std::uint16_t>(kind_of(type));
  event.begin_ns = event.end_ns = time_of(header.time_ns);
  event.track = tracks_[ring];
  if (!read_text(header, payload, &event, &text)) {
    ++counts_.invalid;
    return;
  }
  if (type == RecordType::kPush || type == RecordType::kStart) ++counts_.ranges;
  const bool by_us = event.domain != 0 && event.domain == file_.intern(kTellerDomain);
  if (by_us && event.category == file_.intern(kCategoryFrontEnd)) event.flags |= kFlagPython;
  if (by_us && type == RecordType::kMark) {
    if (event.category == file_.intern(kCategoryMeta)) return on_hook_counts(text);
    if (event.category == file_.intern(kCategoryRecord)) on_step_record(text, &event);
  }
  if (event.name == 0 && event.kind != static_cast<std::uint16_t>(EventKind::kStepRecord)) {
    event.name = file_.intern(text);
  }
  add(event);
}

void EventConverter::on_step_record(std::string_view text, EventRecord* event) {
  if (!Json::parse(text, nullptr, false).is_object()) {
    ++counts_.bad_step_records;  // stays a mark
    return;
  }
  event->kind = static_cast<std::uint16_t>(EventKind::kStepRecord);
  event->attrs = file_.intern(text);
  ++counts_.step_records;
}

// What the hooks say of themselves belongs to the file's META, not among the program's events.
void EventConverter::on_hook_counts(std::string_view text) {
  Json counts = Json::parse(text, nullptr, false);
  if (!counts.is_object()) return;
  write_meta({{"hooks", std::move(counts)}});
}

void EventConverter::on_api(std::uint32_t ring, const RecordHeader& header,
                            std::string_view payload) {
  ring::ApiRecord call{};
  std::string_view name;
  if (!take(payload, &call) || !take_text(payload, call.name_bytes, &name)) {
    ++counts_.invalid;
    return;
  }
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(EventKind::kApiCall);
  event.begin_ns = time_of(call.begin_ns);
  event.end_ns = time_of(header.time_ns);
  event.correlation = call.correlation;
  event.value = call.result;
  event.flags = kFlagHasCorrelation;
  if (call.driver != 0) event.flags |= kFlagDriver;
  if (call.result != 0) event.flags |= kFlagFailed;
  event.name = file_.intern(name);
  event.category = file_.intern(call.driver != 0 ? "cuda_driver" : "cuda_runtime");
  event.track = tracks_[ring];
  add(event);
}

void EventConverter::on_device(std::string_view payload) {
  ring::DeviceRecord activity{};
  std::string_view name;
  if (!take(payload, &activity) || !take_text(payload, activity.name_bytes, &name)) {
    ++counts_.invalid;
    return;
  }
  TrackRecord track;
  const bool on_device = activity.device >= 0 || activity.stream >= 0;
  track.kind = static_cast<std::uint32_t>(on_device ? TrackKind::kDeviceStream : TrackKind::kOther);
  track.pid = pid_;
  track.device = activity.device;
  track.context = activity.context;
  track.stream = activity.stream;
  if (activity.device >= 0) track.device_label = file_.intern(std::to_string(activity.device));
  if (activity.stream >= 0) {
    track.stream_label = file_.intern("stream " + std::to_string(activity.stream));
  }
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(kind_of(static_cast<ring::DeviceKind>(activity.kind)));
  event.begin_ns = time_of(activity.begin_ns);
  event.end_ns = time_of(activity.end_ns);
  event.correlation = activity.correlation;
  event.external = activity.graph;
  event.value = static_cast<std::int64_t>(activity.bytes);
  event.flags = kFlagHasCorrelation;
  if (activity.graph != 0) event.flags |= kFlagGraph;
  event.name = file_.intern(name);
  event.track = file_.track(track);
  add(event);
}

void EventConverter::on_open_call(std::uint32_t ring, const ring::OpenCall& call) {
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(EventKind::kApiCall);
  event.begin_ns = time_of(call.begin_ns);
  event.end_ns = kOpenNs;
  event.correlation = call.correlation;
  event.flags = kFlagHasCorrelation;
  if (call.driver != 0) event.flags |= kFlagDriver;
  event.name = file_.intern(call.name);
  event.category = file_.intern(call.driver != 0 ? "cuda_driver" : "cuda_runtime");
  event.track = tracks_[ring];
  add(event);
}

Status EventConverter::flush() {
  if (status_) keep(file_.flush());
  return status_;
}

Status EventConverter::finish(const ArenaLosses& losses) {
  Json meta;
  meta["counts"] = {{"records", counts_.records},
                    {"ranges", counts_.ranges},
                    {"step_records", counts_.step_records},
                    {"dropped", losses.dropped},
                    {"dropped_ranges", losses.dropped_ranges},
                    {"cut", losses.cut},
                    {"without_ring", losses.without_ring},
                    {"definitions_lost", losses.definitions},
                    {"device_dropped", losses.device_dropped},
                    {"corrupt", losses.corrupt},
                    {"invalid", counts_.invalid},
                    {"bad_step_records", counts_.bad_step_records}};
  if (!thread_names_.empty()) meta["thread_names"] = thread_names_;
  if (status_) {
    keep(file_.finish(meta.dump(-1, ' ', false, Json::error_handler_t::replace)));
  }
  return status_;
}

}  // namespace teller::capture
