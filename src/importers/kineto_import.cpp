// Imports one Chrome trace of PyTorch's profiler, plain, gzip or zstd.
#include <nlohmann/json.hpp>
#include <utility>

#include "importers/kineto_convert.h"
#include "importers/kineto_header.h"
#include "importers/kineto_reader.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// At the end of each piece those who share the work wait for each other.
constexpr std::size_t kPieceBytes = 2u << 20;

class ImportSink : public KinetoSink {
 public:
  ImportSink(const SourceRequest& request, const InputStream& input, EventFileWriter& writer)
      : converter(writer, request.operators), request_(request), input_(input) {}

  Result<std::size_t> plain_events(std::string_view text, std::size_t event_bytes) override {
    return converter.plain_events(text, event_bytes);
  }
  Result<bool> event(std::string_view text) override { return converter.event(text); }
  void lost(std::uint64_t count) override { converter.lost(count); }
  void member(std::string_view key, std::string_view value) override { header.member(key, value); }
  Status piece_done() override {
    converter.text_done();
    if (stop_requested(request_)) return interrupted_error(request_);
    if (request_.progress) request_.progress(input_.bytes_read(), input_.file_bytes());
    return {};
  }

  KinetoConverter converter;
  KinetoHeader header;

 private:
  const SourceRequest& request_;
  const InputStream& input_;
};

// Says why what was read is not to be kept, if so.
Status check_end(const SourceRequest& request, const KinetoEnd& end, const SourceCounts& counts) {
  const std::uint64_t kept = counts.records - counts.malformed;
  if (!end.truncated_reason.empty() && !request.allow_truncated) {
    return truncated_error(request, end.truncated_reason, kept);
  }
  if (!end.has_events && end.truncated_reason.empty()) {
    return unknown_trace_error("its JSON has no \"traceEvents\"");
  }
  if (end.bare_array && counts.records == 0) {
    return unknown_trace_error("its JSON is an empty array");
  }
  if (kept == 0 && counts.malformed > 0) {
    return unknown_trace_error("none of its " + std::to_string(counts.malformed) +
                               " records is a trace event");
  }
  return {};
}

Json final_meta(const ImportSink& sink, const InputStream& input) {
  Json meta;
  meta["size_bytes"] = input.file_bytes();
  sink.header.add_to(meta, sink.converter.first_ns());
  for (const auto& [key, value] : sink.converter.names().items()) meta[key] = value;
  meta["counts"] = sink.converter.counts().to_json();
  meta["complete_events"] = sink.converter.complete_events();
  return meta;
}

}  // namespace

Result<SourceResult> import_kineto(const SourceRequest& request, const std::string& output) {
  TELLER_TRY(const auto input,
             InputStream::open(request.path, {.piece_bytes = kPieceBytes, .stop = request.stop}));
  const Json first = {
      {"dialect", "kineto"}, {"source", request.name}, {"size_bytes", input->file_bytes()}};
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create_hashed(output, meta_text(first)));
  if (request.operators != nullptr) request.operators->begin_source(request.name);
  ImportSink sink(request, *input, writer);
  auto end = KinetoReader(*input, sink).read();
  if (!end) return with_source(end.error(), request);
  SourceCounts& counts = sink.converter.counts();
  counts.truncated = !end->truncated_reason.empty();
  counts.bytes_after_document = end->bytes_after;
  if (Status status = check_end(request, *end, counts); !status) {
    return with_source(status.error(), request);
  }
  SourceResult result;
  TELLER_CHECK_OK(read_to_end(request, *input, counts, result));
  const Json meta = final_meta(sink, *input);
  TELLER_CHECK_OK(writer.finish(meta_text(meta)));
  result.clock = meta["clock"];
  if (request.operators != nullptr) request.operators->end_source(result.clock);
  result.dialect = "kineto";
  result.bytes = input->file_bytes();
  result.output_digest = writer.digest();
  result.events_written = writer.events_written();
  result.counts = counts;
  result.layers = sink.converter.layers();
  result.truncated_reason = end->truncated_reason;
  sink.header.add_notes(result.notes);
  if (const std::string note = counts.rest_note(); !note.empty()) result.notes.push_back(note);
  result.rank = meta["rank"];
  result.world_size = meta["world_size"];
  return result;
}

}  // namespace teller
