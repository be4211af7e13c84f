// Imports one file of OpenTelemetry's JSON: one export, or a line for each, as the file exporter of
// its collector writes them; plain or gzip.
#include <nlohmann/json.hpp>

#include "importers/json_documents.h"
#include "importers/otlp_convert.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// One export is parsed as a whole.
constexpr std::size_t kDocumentLimit = 64u << 20;

Status read_documents(const SourceRequest& request, InputStream& input, OtlpConverter& converter,
                      std::string& truncated) {
  JsonDocuments documents(input, "{\"resource", kDocumentLimit);
  SourceCounts& counts = converter.counts();
  while (true) {
    if (stop_requested(request)) return interrupted_error(request);
    if (request.progress) request.progress(input.bytes_read(), input.file_bytes());
    TELLER_TRY(const std::string_view text, documents.next());
    if (text.empty()) break;
    TELLER_TRY(const bool good, converter.document(text));
    if (good) continue;
    ++counts.records;
    ++counts.malformed;
  }
  counts.records += documents.broken();
  counts.malformed += documents.broken();
  truncated = input.cut_reason();
  if (truncated.empty() && documents.cut()) truncated = "it stops inside of an export";
  counts.truncated = !truncated.empty();
  return {};
}

Json meta_of(OtlpConverter& converter, const InputStream& input) {
  Json meta;
  meta["size_bytes"] = input.file_bytes();
  meta["rank"] = nullptr;
  meta["world_size"] = nullptr;
  meta["clock"] = {{"base", "unix"}, {"unix_offset_ns", 0}};
  meta["resources"] = converter.resources();
  meta["requests"] = converter.requests();
  meta["content_left_out"] = converter.content().left_out();
  meta["secrets_redacted"] = converter.content().secrets().total();
  meta["counts"] = converter.counts().to_json();
  return meta;
}

}  // namespace

Result<SourceResult> import_otlp(const SourceRequest& request, const std::string& output) {
  TELLER_TRY(const auto input, InputStream::open(request.path, {.stop = request.stop}));
  const Json first = {
      {"dialect", "otlp"}, {"source", request.name}, {"size_bytes", input->file_bytes()}};
  TELLER_TRY(EventFileWriter writer, EventFileWriter::create_hashed(output, meta_text(first)));
  const Json clock = {{"base", "unix"}, {"unix_offset_ns", 0}};
  std::function<Status(LogLine&)> log;
  if (request.log) log = [&](LogLine& line) { return request.log(clock, line); };
  OtlpConverter converter(writer, std::move(log));
  SourceResult result;
  const Status read = read_documents(request, *input, converter, result.truncated_reason);
  if (!read) return with_source(read.error(), request);
  SourceCounts& counts = converter.counts();
  const std::uint64_t kept = counts.records - counts.malformed;
  if (counts.truncated && !request.allow_truncated) {
    return truncated_error(request, result.truncated_reason, kept);
  }
  if (kept == 0 && counts.malformed > 0) {
    return with_source(unknown_trace_error("none of its " + std::to_string(counts.malformed) +
                                           " records is a span or a log record"),
                       request);
  }
  result.dialect = "otlp";
  result.requests = converter.requests();
  TELLER_CHECK_OK(read_to_end(request, *input, counts, result));
  TELLER_CHECK_OK(finish_source(meta_of(converter, *input), *input, writer, result));
  result.counts = counts;
  result.layers = converter.layers();
  if (const std::uint64_t count = converter.content().left_out(); count > 0) {
    result.notes.push_back(std::to_string(count) +
                           " values with prompts, answers, bodies or headers were left out");
  }
  if (const std::uint64_t count = converter.content().secrets().total(); count > 0) {
    result.notes.push_back(std::to_string(count) + " secrets or prompts in texts were redacted");
  }
  return result;
}

}  // namespace teller
