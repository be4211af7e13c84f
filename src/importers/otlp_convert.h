// Turns the spans of OpenTelemetry into event records, its log records into log lines, and counts
// what becomes of them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "importers/otlp_content.h"
#include "importers/otlp_request.h"
#include "importers/source_counts.h"
#include "importers/source_import.h"
#include "run_folder/event_file.h"

namespace teller {

class OtlpConverter {
 public:
  // Log lines are given to `log`, unless that is empty.
  OtlpConverter(EventFileWriter& writer, std::function<Status(LogLine& line)> log);

  // Reads one export: an object with resourceSpans, resourceLogs or resourceMetrics. False if its
  // text is no JSON object.
  Result<bool> document(std::string_view text);

  SourceCounts& counts() { return counts_; }
  // What was kept out of what is stored.
  const OtlpContent& content() const { return content_; }
  SourceLayers layers() const { return layers_.layers(); }
  std::uint64_t requests() const { return requests_; }
  // META "resources": the attributes of what sent the spans, each once.
  const nlohmann::ordered_json& resources() const { return resources_; }

 private:
  using Json = nlohmann::ordered_json;
  // What sent spans.
  struct Service {
    std::string name;
    StringId label = 0;
    std::int64_t pid = 0;
  };
  // A span while it is read.
  struct Span {
    std::string trace;
    std::string name;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    TrackId track = 0;
    OtlpRequest request;
  };

  Status spans_of(const Json& resource);
  Status add_span(const Json& json, const Json& scope, const Service& service);
  bool read_times(const Json& json, Span& span, EventRecord& record);
  Status write_span(const Json& json, const Json& scope, Span& span, EventRecord& record);
  Status write_phases(const Span& span);
  Status write_events(const Json& json, const Span& span);
  Status logs_of(const Json& resource);
  Status add_log(const Json& json, const Service& service);
  Json links_of(const Json& json);
  std::string id_of(const Json& json, const char* camel, const char* snake);
  Json cleaned_attributes(const Json& owner);
  Service service_of(const Json& resource);
  TrackId track_of(const Service& service, const std::string& trace);
  void count_unknown(const Json& document, const char* camel, const char* snake);

  EventFileWriter& writer_;
  StringId domain_;
  SourceCounts counts_;
  std::function<Status(LogLine& line)> log_;
  Json resources_ = Json::array();
  std::map<std::string, Service> services_;  // by the text of the resource's attributes
  std::size_t resources_bytes_ = 0;          // of those texts
  std::set<std::string> shown_resources_;    // texts of those in resources_
  OtlpContent content_;
  LayerCounter layers_;
  std::uint64_t requests_ = 0;
  std::uint64_t next_id_ = 1;
};

}  // namespace teller
