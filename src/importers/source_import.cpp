#include "importers/source_import.h"

namespace teller {

Error unknown_trace_error(const std::string& why) {
  return {
      ErrorCode::kCorrupt, "not a trace that teller knows: " + why,
      "it reads JSON of PyTorch's profiler (Kineto) and execution traces and of OpenTelemetry, "
      "plain, "
      "gzip or zstd, Nsight Systems SQLite exports, and dumps of PyTorch's NCCL flight recorder"};
}

Error with_source(Error error, const SourceRequest& request) {
  if (error.message.find(request.path) == std::string::npos) {
    error.message = "importing " + request.path + ": " + error.message;
  }
  return error;
}

Error truncated_error(const SourceRequest& request, const std::string& reason,
                      std::uint64_t whole_events) {
  return {ErrorCode::kCorrupt,
          "importing " + request.path + ": " + reason + "; " + std::to_string(whole_events) +
              " whole events could be kept",
          "--allow-truncated keeps them"};
}

Error interrupted_error(const SourceRequest& request) {
  return {ErrorCode::kInterrupted, "importing " + request.path + ": stopped on request", ""};
}

Status read_to_end(const SourceRequest& request, InputStream& input, SourceCounts& counts,
                   SourceResult& result) {
  auto digest = input.digest();
  if (!digest) return with_source(digest.error(), request);
  result.digest = *digest;
  counts.bytes_behind = input.bytes_behind();
  if (counts.bytes_behind > 0) result.notes.push_back(input.behind_words());
  return {};
}

Status finish_source(const nlohmann::ordered_json& meta, const InputStream& input,
                     EventFileWriter& writer, SourceResult& result) {
  TELLER_CHECK_OK(writer.finish(meta_text(meta)));
  result.clock = meta["clock"];
  result.output_digest = writer.digest();
  result.bytes = input.file_bytes();
  result.events_written = writer.events_written();
  return {};
}

std::string meta_text(const nlohmann::ordered_json& meta) {
  return meta.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace teller
