// Turns CUDA calls and device activities into events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "capture/event_output.h"
#include "capture/in_flight.h"
#include "teller/ring.h"

namespace teller::capture {

// Of one process. Not thread-safe.
class CudaEvents {
 public:
  CudaEvents(EventOutput& out, std::int64_t pid) : out_(out), pid_(pid) {}

  // False if the payload makes no sense.
  bool on_call(TrackId thread, const ring::RecordHeader& header, std::string_view payload);
  bool on_device(const ring::RecordHeader& header, std::string_view payload);
  bool on_in_flight(TrackId thread, std::string_view payload);
  bool on_context(std::uint32_t device, std::uint64_t context, std::string_view payload);
  void on_name(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
               std::string_view text);
  // A call that had not ended when the process did.
  void on_open_call(TrackId thread, const ring::OpenCall& call);
  // One of a thread's latest launches, when the process has ended.
  void on_launch(const ring::Launch& launch);
  void on_done(const DoneIds& correlations) { in_flight_.done(correlations); }

  // After the last record: writes the launches that were in flight, unless no activity could come.
  // Adds what is known of contexts and names to `meta`.
  void finish(bool activities_came, std::int64_t ended_ns, nlohmann::ordered_json* meta);

 private:
  // -1 where unknown.
  struct Place {
    std::int64_t device = -1, context = -1, stream = -1;
  };

  static EventRecord call_event(std::uint64_t begin_ns, std::uint32_t correlation, bool driver,
                                TrackId thread);
  TrackId track_of(const Place& place, TrackKind kind);
  std::int64_t device_of(std::uint32_t context) const;  // -1 where unknown
  void remember(const ring::DeviceRecord& activity);
  void set_external(const ring::DeviceRecord& activity, EventRecord* event) const;
  void set_in_flight(EventRecord* event, nlohmann::ordered_json* attrs);
  void add_error(TrackId thread, const ring::ApiRecord& call, std::string_view name,
                 EventRecord* event);
  void add_kernel(const Launched& launch, std::int64_t end_ns, const nlohmann::ordered_json& attrs,
                  std::int32_t error);

  EventOutput& out_;
  std::int64_t pid_;
  // Of each context: its device and its default stream.
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> contexts_;
  nlohmann::ordered_json names_ = nlohmann::ordered_json::array();
  InFlight in_flight_;
  // Ids that the program has pushed, by correlation id.
  std::unordered_map<std::uint64_t, std::uint64_t> external_;
  std::deque<std::uint64_t> external_order_;
};

}  // namespace teller::capture
