#include "capture/cuda_events.h"

#include <algorithm>

#include "capture/device_record.h"
#include "capture/payload_values.h"
#include "capture/record_bytes.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;
using ring::DeviceKind;

namespace {

// Pushed ids that are kept in mind, until the activities come that they are tied to.
constexpr std::size_t kExternalIds = 65536;

Json error_attributes(const Suspect& suspect) {
  return {{"in_flight", true}, {"error", suspect.error}, {"reported_by", suspect.call}};
}

}  // namespace

EventRecord CudaEvents::call_event(std::uint64_t begin_ns, std::uint32_t correlation, bool driver,
                                   TrackId thread) {
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(EventKind::kApiCall);
  event.begin_ns = time_of(begin_ns);
  event.correlation = correlation;
  event.flags = kFlagHasCorrelation;
  if (driver) event.flags |= kFlagDriver;
  event.track = thread;
  return event;
}

bool CudaEvents::on_call(TrackId thread, const ring::RecordHeader& header,
                         std::string_view payload) {
  ring::ApiRecord call{};
  std::string_view name;
  if (!take(payload, &call) || !take_text(payload, call.name_bytes, &name)) return false;
  EventRecord event = call_event(call.begin_ns, call.correlation, call.driver != 0, thread);
  event.end_ns = time_of(header.time_ns);
  event.value = call.result;
  if (call.result != 0) event.flags |= kFlagFailed;
  event.name = out_.file().intern(name);
  event.category = out_.file().intern(call.driver != 0 ? "cuda_driver" : "cuda_runtime");
  if ((header.flags & ring::kAsyncError) != 0) add_error(thread, call, name, &event);
  out_.add(event);
  return true;
}

bool CudaEvents::on_in_flight(TrackId thread, std::string_view payload) {
  ring::InFlightRecord record{};
  std::string_view name;
  if (!take(payload, &record) || !take_text(payload, record.name_bytes, &name)) return false;
  in_flight_.report(thread, {time_of(record.begin_ns), record.correlation, record.nested,
                             record.context, record.graph != 0, std::string(name)});
  return true;
}

// In the call's attributes at once, and as kernels of their own when all activities are in.
void CudaEvents::add_error(TrackId thread, const ring::ApiRecord& call, std::string_view name,
                           EventRecord* event) {
  Json launches = Json::array();
  for (const Launched& launch :
       in_flight_.blame(thread, event->end_ns, call.result, std::string(name))) {
    launches.push_back({{"correlation", launch.correlation}, {"name", launch.name}});
  }
  event->attrs = out_.attributes(
      {{"asynchronous", true}, {"context", call.context}, {"in_flight", std::move(launches)}});
}

bool CudaEvents::on_device(const ring::RecordHeader& header, std::string_view payload) {
  ring::DeviceRecord activity{};
  std::string_view name;
  if (!take(payload, &activity) || !take_text(payload, activity.name_bytes, &name)) return false;
  const auto kind = static_cast<DeviceKind>(activity.kind);
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(kind_of(kind));
  event.begin_ns = time_of(activity.begin_ns);
  event.end_ns = time_of(activity.end_ns);
  event.correlation = activity.correlation;
  event.value = value_of(activity);
  if (activity.correlation != 0 || runs_on_device(kind)) event.flags |= kFlagHasCorrelation;
  if (kind == DeviceKind::kSync && event.value != 0) event.flags |= kFlagFailed;
  if (activity.begin_ns == 0) {  // CUPTI could not time it
    event.begin_ns = event.end_ns = time_of(header.time_ns);
    event.flags |= kFlagRepaired;
  } else if (activity.end_ns == 0) {
    event.end_ns = kOpenNs;
  }
  event.name = out_.file().intern(name);
  event.category = out_.file().intern(category_of(kind));
  remember(activity);
  set_external(activity, &event);
  Json attrs = attributes_of(activity);
  if (runs_on_device(kind) && activity.end_ns == 0) set_in_flight(&event, &attrs);
  event.attrs = out_.attributes(attrs);
  std::int64_t device = activity.device;
  if (device < 0 && activity.context >= 0) {
    device = device_of(static_cast<std::uint32_t>(activity.context));
  }
  const bool placed = runs_on_device(kind) || kind == DeviceKind::kSync;
  event.track = track_of({device, activity.context, activity.stream},
                         placed && (device >= 0 || activity.stream >= 0) ? TrackKind::kDeviceStream
                                                                         : TrackKind::kOther);
  out_.add(event);
  return true;
}

// What CUPTI hands over at the end without having seen its end. If an error was reported meanwhile,
// it was that, or waited behind it.
void CudaEvents::set_in_flight(EventRecord* event, Json* attrs) {
  const auto suspect = in_flight_.take_suspect(event->correlation);
  if (!suspect) return;
  const bool untimed = (event->flags & kFlagRepaired) != 0;
  if (untimed) event->begin_ns = suspect->launch.begin_ns;
  event->end_ns = std::max(suspect->end_ns, event->begin_ns);
  event->value = suspect->error;
  event->flags |= kFlagFailed;
  attrs->update(error_attributes(*suspect));
}

TrackId CudaEvents::track_of(const Place& place, TrackKind kind) {
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(kind);
  track.pid = pid_;
  track.device = place.device;
  track.context = place.context;
  track.stream = place.stream;
  if (place.device >= 0) track.device_label = out_.file().intern(std::to_string(place.device));
  if (place.stream >= 0) {
    track.stream_label = out_.file().intern("stream " + std::to_string(place.stream));
  } else if (kind == TrackKind::kDeviceStream) {
    track.stream_label = out_.file().intern("stream ?");
  }
  return out_.file().track(track);
}

void CudaEvents::remember(const ring::DeviceRecord& activity) {
  const auto kind = static_cast<DeviceKind>(activity.kind);
  const std::uint64_t id = activity.correlation;
  if (runs_on_device(kind)) in_flight_.done(id);
  if (kind != DeviceKind::kExternal) return;
  if (!external_.insert_or_assign(id, activity.extra[0]).second) return;
  external_order_.push_back(id);
  if (external_order_.size() <= kExternalIds) return;
  external_.erase(external_order_.front());
  external_order_.pop_front();
}

void CudaEvents::set_external(const ring::DeviceRecord& activity, EventRecord* event) const {
  if (static_cast<DeviceKind>(activity.kind) == DeviceKind::kExternal) {
    event->external = activity.extra[0];
    event->flags |= kFlagHasExternal;
    return;
  }
  if (activity.graph != 0) {  // `external` then holds the graph's id
    event->external = activity.graph;
    event->flags |= kFlagGraph;
    return;
  }
  const auto found = external_.find(activity.correlation);
  if (found == external_.end() || activity.correlation == 0) return;
  event->external = found->second;
  event->flags |= kFlagHasExternal;
}

bool CudaEvents::on_context(std::uint32_t device, std::uint64_t context, std::string_view payload) {
  ring::ContextDefinition definition{};
  if (!take(payload, &definition)) return false;
  contexts_[static_cast<std::uint32_t>(context)] = {device, definition.null_stream};
  return true;
}

std::int64_t CudaEvents::device_of(std::uint32_t context) const {
  const auto found = contexts_.find(context);
  return found == contexts_.end() ? -1 : static_cast<std::int64_t>(found->second.first);
}

void CudaEvents::on_name(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                         std::string_view text) {
  Json entry = Json::object();
  const char* what = kind == ring::DefinitionKind::kDeviceName    ? "device"
                     : kind == ring::DefinitionKind::kContextName ? "context"
                                                                  : "stream";
  if (domain == ring::kUnknownHandle) {
    entry["handle"] = hex_number(id);
  } else {
    if (kind == ring::DefinitionKind::kStreamName && domain != ring::kAnyContext) {
      entry["context"] = domain;
    }
    entry[what] = id;
  }
  entry["kind"] = what;
  entry["name"] = text;
  names_.push_back(std::move(entry));
}

void CudaEvents::on_open_call(TrackId thread, const ring::OpenCall& call) {
  EventRecord event = call_event(call.begin_ns, call.correlation, call.driver != 0, thread);
  event.end_ns = kOpenNs;
  event.name = out_.file().intern(call.name);
  event.category = out_.file().intern(call.driver != 0 ? "cuda_driver" : "cuda_runtime");
  out_.add(event);
}

void CudaEvents::on_launch(const ring::Launch& launch) {
  in_flight_.keep_last({time_of(launch.begin_ns), launch.correlation, launch.nested, launch.context,
                        launch.graph != 0, launch.name});
}

// A kernel of which only the launch is known; its call is `begin`, its end not before `end_ns`.
void CudaEvents::add_kernel(const Launched& launch, std::int64_t end_ns, const Json& attrs,
                            std::int32_t error) {
  EventRecord event;
  event.kind = static_cast<std::uint16_t>(EventKind::kKernel);
  event.begin_ns = launch.begin_ns;
  event.end_ns = end_ns == kOpenNs ? end_ns : std::max(end_ns, launch.begin_ns);
  event.correlation = launch.correlation;
  event.flags = kFlagHasCorrelation;
  if (launch.graph) event.flags |= kFlagGraph;
  event.value = error;
  if (error != 0) event.flags |= kFlagFailed;
  event.name = out_.file().intern(launch.name);
  event.attrs = out_.attributes(attrs);
  event.track = track_of({device_of(launch.context), launch.context, -1}, TrackKind::kDeviceStream);
  out_.add(event);
}

void CudaEvents::finish(bool activities_came, std::int64_t ended_ns, Json* meta) {
  if (activities_came) {
    for (const Launched& launch : in_flight_.unfinished(ended_ns)) {
      add_kernel(launch, kOpenNs, {{"in_flight", true}}, 0);
    }
    for (const Suspect& suspect : in_flight_.suspects()) {
      add_kernel(suspect.launch, suspect.end_ns, error_attributes(suspect), suspect.error);
    }
  }
  for (const auto& [context, place] : contexts_) {
    (*meta)["cuda_contexts"].push_back(
        {{"context", context}, {"device", place.first}, {"null_stream", place.second}});
  }
  if (!names_.empty()) (*meta)["cuda_names"] = names_;
}

}  // namespace teller::capture
