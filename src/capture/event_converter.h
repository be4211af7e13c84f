// Turns what a process recorded into events of its event file.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/arena_reader.h"
#include "capture/cuda_events.h"
#include "capture/event_output.h"
#include "capture/payload_decoder.h"

namespace teller::capture {

// What came out of one process.
struct ConversionCounts {
  std::uint64_t records = 0;           // events written
  std::uint64_t ranges = 0;            // of these, begins of ranges
  std::uint64_t step_records = 0;      // of these, step records
  std::uint64_t invalid = 0;           // records that made no sense
  std::uint64_t bad_step_records = 0;  // RECORD marks that are not a JSON object; kept as marks
};

// Not thread-safe. Once the file cannot be written, everything is thrown away and status() says
// why.
class EventConverter : public ArenaSink {
 public:
  EventConverter(EventFileWriter file, std::int64_t pid);
  EventConverter(const EventConverter&) = delete;
  EventConverter& operator=(const EventConverter&) = delete;

  void on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                     std::string_view text) override;
  void on_record(std::uint32_t ring, const ring::RecordHeader& header,
                 std::string_view payload) override;
  void on_open_call(std::uint32_t ring, const ring::OpenCall& call) override;
  void on_launch(const ring::Launch& launch) override;
  void on_done(const DoneIds& correlations) override;

  Status flush();
  // Writes what was in flight at `ended_ns`, the closing META ("counts" with `losses`, names) and
  // END.
  Status finish(const ArenaLosses& losses, std::int64_t ended_ns);
  const Status& status() const { return out_.status(); }
  ConversionCounts counts() const;
  std::uint64_t bytes_written() const { return out_.file().bytes_written(); }
  // What the process said of itself: "cuda", "python", ….
  const std::map<std::string, std::string>& notes() const { return notes_; }

 private:
  void on_thread(std::uint32_t ring, std::string_view payload);
  void on_text(std::uint32_t ring, const ring::RecordHeader& header, std::string_view payload);
  void on_note(std::string_view text);
  void on_step_record(std::string_view text, EventRecord* event);
  void on_hook_counts(std::string_view text);
  bool read_text(const ring::RecordHeader& header, std::string_view payload, EventRecord* event,
                 std::string* text);
  void set_value_attrs(std::uint16_t flags, std::uint64_t value, EventRecord* event);
  void set_payload_attrs(std::uint32_t domain, const std::vector<Payload>& payloads,
                         EventRecord* event, std::string* text);
  std::string text_of_handle(std::uint64_t handle) const;
  std::string category_text(std::uint32_t domain, std::uint32_t category) const;

  EventOutput out_;
  std::int64_t pid_;
  std::vector<TrackId> tracks_;  // of each ring's present thread
  std::unordered_map<std::uint32_t, std::string> domains_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> categories_;
  std::unordered_map<std::uint32_t, std::string> strings_;
  std::map<std::uint32_t, std::string> thread_names_;
  std::map<std::string, std::string> notes_;
  ConversionCounts counts_;  // but for records, which `out_` counts
  CudaEvents cuda_;
  PayloadSchemas schemas_;
  PayloadDecoder decoder_;
};

}  // namespace teller::capture
