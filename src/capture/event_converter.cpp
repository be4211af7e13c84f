#include "capture/event_converter.h"

#include <cstring>
#include <utility>

#include "base/json.h"
#include "capture/nccl_payload.h"
#include "capture/record_bytes.h"
#include "capture/teller_names.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;
using ring::RecordHeader;
using ring::RecordType;

namespace {

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

// How CUPTI's times became ours.
Json clock_json(const CudaCounts& cuda) {
  if (cuda.clock == ring::CudaClock::kNone) return {{"base", "unknown"}};
  if (cuda.clock == ring::CudaClock::kCallback) return {{"base", "CLOCK_MONOTONIC"}};
  return {{"base", "CUPTI"},
          {"offset_ns", cuda.clock_offset_ns},
          {"uncertainty_ns", cuda.clock_error_ns},
          {"measured", cuda.clock_count},
          {"drift_ns", cuda.clock_offset_ns - cuda.clock_first_ns}};
}

}  // namespace

EventConverter::EventConverter(EventFileWriter file, std::int64_t pid)
    : out_(std::move(file)),
      pid_(pid),
      tracks_(ring::kMaxRings, 0),
      cuda_(out_, pid),
      decoder_(schemas_, [this](std::uint64_t handle) { return text_of_handle(handle); }) {}

ConversionCounts EventConverter::counts() const {
  ConversionCounts counts = counts_;
  counts.records = out_.records();
  return counts;
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
      thread_names_[number] = text;
      return;
    case ring::DefinitionKind::kDeviceName:
    case ring::DefinitionKind::kContextName:
    case ring::DefinitionKind::kStreamName:
      return cuda_.on_name(kind, domain, id, text);
    case ring::DefinitionKind::kContext:
      if (cuda_.on_context(domain, id, text)) return;
      break;
    case ring::DefinitionKind::kSchema:
    case ring::DefinitionKind::kEnum:
      if (schemas_.define(kind, domain, id, text)) return;
      break;
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
  out_.write_meta({{key, notes_[key]}});
}

void EventConverter::on_record(std::uint32_t ring, const RecordHeader& header,
                               std::string_view payload) {
  if (!out_.status()) return;
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
      if (cuda_.on_call(tracks_[ring], header, payload)) return;
      break;
    case RecordType::kDevice:
      if (cuda_.on_device(header, payload)) return;
      break;
    case RecordType::kInFlight:
      if (cuda_.on_in_flight(tracks_[ring], payload)) return;
      break;
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
  track.name = out_.file().intern(name);
  tracks_[ring] = out_.file().track(track);
}

// Fills in what a TextRecord says; `text` is the message.
bool EventConverter::read_text(const RecordHeader& header, std::string_view payload,
                               EventRecord* event, std::string* text) {
  ring::TextRecord fixed{};
  std::uint64_t value = 0;
  std::vector<Payload> payloads;
  std::string_view message;
  if (!take(payload, &fixed)) return false;
  if ((header.flags & ring::kHasId) != 0 && !take(payload, &event->correlation)) return false;
  if ((header.flags & ring::kHasValue) != 0 && !take(payload, &value)) return false;
  if ((header.flags & ring::kHasPayload) != 0 && !take_payloads(payload, &payloads)) return false;
  if ((header.flags & ring::kRegistered) != 0) {
    const auto found = strings_.find(fixed.text);
    if (found != strings_.end()) message = found->second;
  } else if (!take_text(payload, fixed.text, &message)) {
    return false;
  }
  *text = message;
  if ((header.flags & ring::kHasValue) != 0) set_value_attrs(header.flags, value, event);
  if (!payloads.empty()) set_payload_attrs(fixed.domain, payloads, event, text);
  if ((header.flags & ring::kCut) != 0) event->flags |= kFlagRepaired;
  const auto domain = domains_.find(fixed.domain);
  if (domain != domains_.end()) event->domain = out_.file().intern(domain->second);
  if (fixed.category != 0) {
    event->category = out_.file().intern(category_text(fixed.domain, fixed.category));
  }
  return true;
}

// What extended payloads say; one of them may hold the message.
void EventConverter::set_payload_attrs(std::uint32_t domain, const std::vector<Payload>& payloads,
                                       EventRecord* event, std::string* text) {
  DecodedPayload decoded = decoder_.decode(domain, payloads);
  if (text->empty()) *text = std::move(decoded.message);
  Json attrs = Json::object();
  const auto name = domains_.find(domain);
  if (name != domains_.end() && name->second == kNcclDomain) {
    add_nccl_keys(decoded.value, decoded.schema, *text, &attrs);
  }
  attrs["payload"] = std::move(decoded.value);
  if (!decoded.schema.empty()) attrs["schema"] = decoded.schema;
  if (decoded.cut) attrs["payload_cut"] = true;
  event->attrs = out_.attributes(attrs);
}

// The collector's handle of a registered string is a tag over its number
// (preload/nvtx_handles.cpp).
std::string EventConverter::text_of_handle(std::uint64_t handle) const {
  constexpr std::uint64_t kStringTag = 0x51317e11;
  const auto found = strings_.find(static_cast<std::uint32_t>(handle));
  return handle >> 32 == kStringTag && found != strings_.end() ? found->second : "";
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
  event->attrs = out_.file().intern(payload.dump());
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
  std::string text;
  event.kind = static_cast<std::uint16_t>(kind_of(type));
  event.begin_ns = event.end_ns = time_of(header.time_ns);
  event.track = tracks_[ring];
  if (!read_text(header, payload, &event, &text)) {
    ++counts_.invalid;
    return;
  }
  if (type == RecordType::kPush || type == RecordType::kStart) ++counts_.ranges;
  const bool by_us = event.domain != 0 && event.domain == out_.file().intern(kTellerDomain);
  if (by_us && event.category == out_.file().intern(kCategoryFrontEnd)) event.flags |= kFlagPython;
  if (by_us && type == RecordType::kMark) {
    if (event.category == out_.file().intern(kCategoryMeta)) return on_hook_counts(text);
    if (event.category == out_.file().intern(kCategoryRecord)) on_step_record(text, &event);
  }
  if (event.name == 0 && event.kind != static_cast<std::uint16_t>(EventKind::kStepRecord)) {
    event.name = out_.file().intern(text);
  }
  out_.add(event);
}

void EventConverter::on_step_record(std::string_view text, EventRecord* event) {
  if (!is_json_object(text)) {
    ++counts_.bad_step_records;  // stays a mark
    return;
  }
  event->kind = static_cast<std::uint16_t>(EventKind::kStepRecord);
  event->attrs = out_.file().intern(text);
  ++counts_.step_records;
}

// What the hooks say of themselves belongs to the file's META, not among the program's events.
void EventConverter::on_hook_counts(std::string_view text) {
  Json counts = parse_json(text);
  if (!counts.is_object()) {
    ++counts_.invalid;
    return;
  }
  out_.write_meta({{"hooks", std::move(counts)}});
}

void EventConverter::on_open_call(std::uint32_t ring, const ring::OpenCall& call) {
  cuda_.on_open_call(tracks_[ring], call);
}

void EventConverter::on_launch(const ring::Launch& launch) {
  cuda_.on_launch(launch);
}

void EventConverter::on_done(const DoneIds& correlations) {
  cuda_.on_done(correlations);
}

Status EventConverter::flush() {
  out_.flush();
  return out_.status();
}

Status EventConverter::finish(const ArenaLosses& losses, std::int64_t ended_ns) {
  Json meta;
  cuda_.finish(losses.cuda.activities && losses.device_dropped == 0, ended_ns, &meta);
  const ConversionCounts counts = this->counts();
  meta["counts"] = {{"records", counts.records},
                    {"ranges", counts.ranges},
                    {"step_records", counts.step_records},
                    {"dropped", losses.dropped},
                    {"dropped_ranges", losses.dropped_ranges},
                    {"cut", losses.cut},
                    {"without_ring", losses.without_ring},
                    {"definitions_lost", losses.definitions},
                    {"device_dropped", losses.device_dropped},
                    {"device_unknown", losses.cuda.unknown},
                    {"device_malformed", losses.cuda.malformed},
                    {"cuda_buffers_refused", losses.cuda.buffers_refused},
                    {"corrupt", losses.corrupt},
                    {"invalid", counts.invalid},
                    {"bad_step_records", counts.bad_step_records}};
  if (losses.cuda.activities) meta["cuda_clock"] = clock_json(losses.cuda);
  for (const auto& [tid, name] : thread_names_) {
    meta["thread_names"].push_back(
        {{"pid", std::to_string(pid_)}, {"tid", std::to_string(tid)}, {"name", name}});
  }
  out_.finish(meta);
  return out_.status();
}

}  // namespace teller::capture
