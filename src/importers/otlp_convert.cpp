#include "importers/otlp_convert.h"

#include <algorithm>

#include "importers/json_text.h"
#include "importers/log_lines.h"
#include "importers/otlp_values.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kResourcesLimit = 1u << 20;
constexpr const char* kSpanKinds[] = {"span",   "internal", "server",
                                      "client", "producer", "consumer"};

// Calls `use` for the elements of the first of these arrays that is there, until one fails.
template <typename Use>
Status each(const Json& object, std::initializer_list<const char*> keys, Use use) {
  if (!object.is_object()) return {};
  for (const char* key : keys) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) continue;
    for (const Json& element : *found) TELLER_CHECK_OK(use(element));
    return {};
  }
  return {};
}

// The number of a span's kind, or its name in the enumeration (SPAN_KIND_SERVER).
std::string kind_of(const Json& json) {
  const Json& kind = otlp_member(json, "kind", "kind");
  if (kind.is_number_integer()) {
    const auto number = kind.get<std::int64_t>();
    return number >= 0 && number < 6 ? kSpanKinds[number] : "span";
  }
  std::string text = kind.is_string() ? kind.get<std::string>() : "";
  constexpr std::string_view kPrefix = "SPAN_KIND_";
  if (text.substr(0, kPrefix.size()) != kPrefix) return "span";
  text.erase(0, kPrefix.size());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

void add_text(Json& attrs, const char* key, const std::string& text) {
  if (!text.empty()) attrs[key] = text;
}

// One that is nested too deeply, or no JSON, is a discarded value.
Result<Json> parse_document(std::string_view text) {
  const JsonTreeFit fit = json_tree_fit(text);
  if (fit == JsonTreeFit::kManyValues) {
    return Error{
        ErrorCode::kUnsupported,
        "one JSON object in it has more than " + std::to_string(kMostJsonValues) + " values",
        "write it as JSON lines, one object for each export"};
  }
  if (fit != JsonTreeFit::kFits) return Json(Json::value_t::discarded);
  Json value = Json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  const std::string repaired = repair_json(text);
  return fits_json_tree(repaired) ? Json::parse(repaired, nullptr, false) : std::move(value);
}

}  // namespace

OtlpConverter::OtlpConverter(EventFileWriter& writer, std::function<Status(LogLine& line)> log)
    : writer_(writer), domain_(writer.intern("otlp")), log_(std::move(log)) {}

Result<bool> OtlpConverter::document(std::string_view text) {
  TELLER_TRY(const Json json, parse_document(text));
  if (!json.is_object()) return false;
  TELLER_CHECK_OK(each(json, {"resourceSpans", "resource_spans"},
                       [&](const Json& resource) { return spans_of(resource); }));
  TELLER_CHECK_OK(each(json, {"resourceLogs", "resource_logs"},
                       [&](const Json& resource) { return logs_of(resource); }));
  count_unknown(json, "resourceMetrics", "resource_metrics");
  return true;
}

// Metrics are not read; the samples of each resource are one unknown record.
void OtlpConverter::count_unknown(const Json& document, const char* camel, const char* snake) {
  const Json& list = otlp_member(document, camel, snake);
  if (!list.is_array() || list.empty()) return;
  counts_.records += list.size();
  counts_.unknown[camel] += list.size();
}

// An id as it is, hexadecimal digits; a text that is none may hold anything.
std::string OtlpConverter::id_of(const Json& json, const char* camel, const char* snake) {
  std::string id = otlp_text(json, camel, snake);
  const bool digits = id.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
  return digits ? id : content_.text(id);
}

Json OtlpConverter::cleaned_attributes(const Json& owner) {
  Json attributes = otlp_attributes(owner);
  content_.clean(attributes);
  return attributes;
}

// Exports repeat their resource: what it holds is looked at, and counted, once.
OtlpConverter::Service OtlpConverter::service_of(const Json& resource) {
  const Json& owner = otlp_member(resource, "resource", "resource");
  const std::string text = meta_text(otlp_member(owner, "attributes", "attributes"));
  if (const auto known = services_.find(text); known != services_.end()) return known->second;
  const Json attributes = cleaned_attributes(owner);
  Service service;
  service.name = otlp_text(attributes, "service.name", "service.name");
  if (service.name.empty()) service.name = "unknown service";
  service.label = writer_.intern(service.name);
  service.pid = otlp_integer(otlp_member(attributes, "process.pid", "process.pid")).value_or(0);
  if (resources_bytes_ + text.size() > kResourcesLimit) return service;
  resources_bytes_ += text.size();
  services_.emplace(text, service);
  const bool fresh = shown_resources_.insert(meta_text(attributes)).second;
  if (!attributes.empty() && fresh) resources_.push_back(attributes);
  return service;
}

// Spans of one trace may nest, those of two traces never do.
TrackId OtlpConverter::track_of(const Service& service, const std::string& trace) {
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kOther);
  track.pid = service.pid;
  track.device_label = service.label;
  track.stream_label = writer_.intern("trace " + trace);
  return writer_.track(track);
}

Status OtlpConverter::spans_of(const Json& resource) {
  const Service service = service_of(resource);
  const auto scope_of = [&](const Json& scoped) {
    const Json& scope = otlp_member(scoped, "scope", "instrumentationLibrary");
    return each(scoped, {"spans"},
                [&](const Json& span) { return add_span(span, scope, service); });
  };
  return each(
      resource,
      {"scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"},
      scope_of);
}

bool OtlpConverter::read_times(const Json& json, Span& span, EventRecord& record) {
  const auto begin = otlp_integer(otlp_member(json, "startTimeUnixNano", "start_time_unix_nano"));
  const Json& end_value = otlp_member(json, "endTimeUnixNano", "end_time_unix_nano");
  const auto end = otlp_integer(end_value);
  if (!begin || *begin <= 0 || *begin == kOpenNs) return false;
  if (!end && !end_value.is_null()) return false;
  span.begin_ns = *begin;
  span.end_ns = end && *end != 0 ? *end : kOpenNs;
  // Clocks are set back while spans run.
  if (span.end_ns < span.begin_ns) {
    span.end_ns = span.begin_ns;
    record.flags |= kFlagRepaired;
    ++counts_.clipped;
  }
  return true;
}

Status OtlpConverter::add_span(const Json& json, const Json& scope, const Service& service) {
  ++counts_.records;
  Span span;
  EventRecord record;
  if (!json.is_object() || !read_times(json, span, record)) {
    ++counts_.malformed;
    return {};
  }
  span.trace = id_of(json, "traceId", "trace_id");
  span.track = track_of(service, span.trace);
  TELLER_CHECK_OK(write_span(json, scope, span, record));
  TELLER_CHECK_OK(write_phases(span));
  return write_events(json, span);
}

Status OtlpConverter::write_span(const Json& json, const Json& scope, Span& span,
                                 EventRecord& record) {
  const Json attributes = cleaned_attributes(json);
  span.request = read_otlp_request(attributes, span.begin_ns, span.end_ns);
  Json attrs = Json::object();
  if (!span.request.id.empty()) {
    attrs["request"] = span.request.to_json();
    ++requests_;
  }
  add_text(attrs, "trace_id", span.trace);
  add_text(attrs, "span_id", id_of(json, "spanId", "span_id"));
  add_text(attrs, "parent_span_id", id_of(json, "parentSpanId", "parent_span_id"));
  add_text(attrs, "trace_state", content_.text(otlp_text(json, "traceState", "trace_state")));
  add_text(attrs, "scope", content_.text(otlp_text(scope, "name", "name")));
  Json status = otlp_member(json, "status", "status");
  content_.clean(status);
  if (status.is_object() && !status.empty()) attrs["status"] = std::move(status);
  if (Json links = links_of(json); !links.empty()) attrs["links"] = std::move(links);
  if (!attributes.empty()) attrs["attributes"] = attributes;

  span.name = content_.text(otlp_text(json, "name", "name"));
  const std::string suffix = span.request.id.empty() ? "" : " request=" + span.request.id;
  record.kind = static_cast<std::uint16_t>(EventKind::kRange);
  record.begin_ns = span.begin_ns;
  record.end_ns = span.end_ns;
  // Spans of one trace overlap where it forks: like ranges with an id of their own.
  record.correlation = next_id_++;
  record.flags |= kFlagHasCorrelation;
  record.track = span.track;
  record.domain = domain_;
  record.category = writer_.intern(content_.text(kind_of(json)));
  record.name = writer_.intern(span.name + suffix);
  record.attrs = writer_.append_text(meta_text(attrs));
  ++counts_.events;
  layers_.add(record);
  return writer_.add(record);
}

// Links as they are, but for their attributes, which become one object.
Json OtlpConverter::links_of(const Json& json) {
  const Json& links = otlp_member(json, "links", "links");
  if (!links.is_array()) return Json::array();
  Json kept = Json::array();
  for (const Json& link : links) {
    Json one = link;
    if (one.is_object() && one.contains("attributes")) one["attributes"] = otlp_attributes(link);
    content_.clean(one);
    kept.push_back(std::move(one));
  }
  return kept;
}

// Queue, prefill and decode as ranges inside of the span, as far as it tells them.
Status OtlpConverter::write_phases(const Span& span) {
  const OtlpRequest& request = span.request;
  const struct {
    const char* name;
    std::int64_t begin_ns;
    std::int64_t end_ns;
  } phases[] = {{"queue", request.queued_ns, request.scheduled_ns},
                {"prefill", request.scheduled_ns, request.first_token_ns},
                {"decode", request.first_token_ns, request.last_token_ns}};
  for (const auto& phase : phases) {
    if (phase.begin_ns < 0 || phase.end_ns < phase.begin_ns) continue;
    EventRecord record;
    record.kind = static_cast<std::uint16_t>(EventKind::kRange);
    record.begin_ns = phase.begin_ns;
    record.end_ns = phase.end_ns;
    record.correlation = next_id_++;
    record.flags = kFlagHasCorrelation;
    record.track = span.track;
    record.domain = domain_;
    record.category = writer_.intern("phase");
    record.name = writer_.intern(std::string(phase.name) + " request=" + request.id);
    layers_.add(record);
    TELLER_CHECK_OK(writer_.add(record));
  }
  return {};
}

Status OtlpConverter::write_events(const Json& json, const Span& span) {
  return each(json, {"events"}, [&](const Json& event) -> Status {
    ++counts_.records;
    const auto time = otlp_integer(otlp_member(event, "timeUnixNano", "time_unix_nano"));
    if (!time || *time <= 0 || *time == kOpenNs) {
      ++counts_.malformed;
      return {};
    }
    EventRecord record;
    record.kind = static_cast<std::uint16_t>(EventKind::kMark);
    record.begin_ns = record.end_ns = *time;
    record.track = span.track;
    record.domain = domain_;
    record.category = writer_.intern("event");
    record.name = writer_.intern(content_.text(otlp_text(event, "name", "name")));
    const Json attributes = cleaned_attributes(event);
    if (!attributes.empty()) record.attrs = writer_.append_text(meta_text(attributes));
    ++counts_.events;
    layers_.add(record);
    return writer_.add(record);
  });
}

Status OtlpConverter::logs_of(const Json& resource) {
  const Service service = service_of(resource);
  return each(resource, {"scopeLogs", "scope_logs"}, [&](const Json& scoped) {
    return each(scoped, {"logRecords", "log_records"},
                [&](const Json& log) { return add_log(log, service); });
  });
}

Status OtlpConverter::add_log(const Json& json, const Service& service) {
  ++counts_.records;
  LogLine line;
  for (const auto& [camel, snake] :
       {std::pair{"timeUnixNano", "time_unix_nano"},
        std::pair{"observedTimeUnixNano", "observed_time_unix_nano"}}) {
    const auto time = otlp_integer(otlp_member(json, camel, snake));
    if (!line.t_ns && time && *time > 0) line.t_ns = *time;
  }
  line.stream = service.name;
  if (service.pid > 0) line.pid = service.pid;
  line.level = content_.text(otlp_text(json, "severityText", "severity_text"));
  Json body = otlp_value(otlp_member(json, "body", "body"));
  content_.clean(body);
  set_log_text(body.is_string() ? body.get<std::string>() : meta_text(body), line);
  if (body.is_null() || line.text.empty()) {
    ++counts_.malformed;
    return {};
  }
  ++counts_.metadata;
  return log_ ? log_(line) : Status();
}

}  // namespace teller
