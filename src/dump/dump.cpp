#include "dump/dump.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "base/file.h"
#include "base/json.h"
#include "base/mapped_file.h"
#include "dump/dump_chains.h"
#include "dump/dump_events.h"
#include "dump/dump_slices.h"
#include "dump/dump_tokens.h"
#include "dump/log_fields.h"
#include "dump/print.h"
#include "run_folder/run_folder.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::string_view kArtifacts[] = {
    "manifest", "events", "logs",   "processes", "context", "chains",  "horizontal",
    "findings", "slices", "tokens", "diagnosis", "labels",  "snapshot"};
constexpr std::uint64_t kJsonFileLimit = 1u << 30;

// Prints a JSON Lines file; lines that are not JSON objects are printed as "broken".
Status dump_json_lines(const std::string& path, std::string_view word, const DumpOptions& options,
                       std::ostream& out) {
  TELLER_TRY(const MappedFile map, MappedFile::open(path, word));
  std::string_view rest = map.text();
  for (std::uint64_t n = 0; !rest.empty() && (options.limit == 0 || n < options.limit); ++n) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    Json record = parse_json(line);
    if (!record.is_object()) {
      print_record("broken", {{"file", fs::path(path).filename().string()}, {"line", line}},
                   options.json, out);
      continue;
    }
    if (word == "log" && options.json) add_log_fields(record);
    print_record(word, record, options.json, out);
  }
  return {};
}

// Prints a file that is one JSON document.
Status dump_json_document(const std::string& path, std::string_view word,
                          const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const std::string text, read_file(path, word, kJsonFileLimit));
  const Json document = parse_json(text);
  if (document.is_discarded()) {
    return Error{ErrorCode::kCorrupt, "reading " + path + ": it is not JSON",
                 "make it again with the command that wrote it"};
  }
  if (options.json) {
    print_record(word, document.is_object() ? document : Json{{"value", document}}, true, out);
  } else {
    out << word << '\n' << document.dump(2, ' ', true, Json::error_handler_t::replace) << '\n';
  }
  return {};
}

Status dump_file(const RunFolder& run, std::string_view artifact, const std::string& relative,
                 std::string_view table, const DumpOptions& options, std::ostream& out) {
  const std::string path = run.file(relative);
  const std::string extension = fs::path(relative).extension().string();
  if (extension == ".tev") return dump_event_file(path, relative, options, out);
  if (extension == ".tcol" && artifact == "tokens") {
    return dump_tokens(path, run.file("chains.tcol"), table, options, out);
  }
  if (extension == ".tcol") return dump_chains(path, table, options, out);
  const std::string_view word = artifact == "logs"         ? "log"
                                : artifact == "processes"  ? "process"
                                : artifact == "horizontal" ? "collective"
                                                           : artifact;
  if (extension == ".jsonl") return dump_json_lines(path, word, options, out);
  if (!table.empty()) return {};
  if (extension != ".json") {  // a copy of what another program wrote: never read
    print_record("file", {{"file", relative}}, options.json, out);
    return {};
  }
  return dump_json_document(path, fs::path(relative).stem().string(), options, out);
}

Error unknown_artifact(const std::string& name) {
  return {ErrorCode::kUsage, "dump: there is no artefact called " + name,
          "one of manifest, events, logs, processes, context, chains, chains.nodes, chains.steps, "
          "chains.rows, chains.requests, chains.logs, chains.tracks, chains.sources, horizontal, "
          "findings, "
          "slices, tokens, tokens.units, tokens.tokens, tokens.edges, diagnosis, labels, snapshot"};
}

Status dump_artifact(const RunFolder& run, const std::string& name, std::string_view table,
                     const DumpOptions& options, std::ostream& out, bool required) {
  if (name == "manifest") return dump_json_document(run.file("manifest.json"), name, options, out);
  if (required) {
    TELLER_TRY(const auto present, run.require_artifact(name));
    static_cast<void>(present);
  }
  TELLER_CHECK_OK(run.check_listed(name));
  if (name == "slices") {
    return run.artifact_files(name).empty() ? Status() : dump_slices(run, options, out);
  }
  for (const std::string& file : run.artifact_files(name)) {
    TELLER_CHECK_OK(dump_file(run, name, file, table, options, out));
  }
  return {};
}

Status dump_run(const std::string& path, const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const RunFolder run, RunFolder::open(path));
  if (options.artifact.empty()) {
    for (const std::string_view name : kArtifacts) {
      TELLER_CHECK_OK(dump_artifact(run, std::string(name), "", options, out, false));
    }
    return {};
  }
  const std::size_t dot = options.artifact.find('.');
  const std::string name = options.artifact.substr(0, dot);
  const std::string table = dot == std::string::npos ? "" : options.artifact.substr(dot + 1);
  const bool known =
      std::find(std::begin(kArtifacts), std::end(kArtifacts), name) != std::end(kArtifacts);
  const bool has_table =
      (name == "chains" && is_chains_table(table)) || (name == "tokens" && is_tokens_table(table));
  if (!known || (!table.empty() && !has_table)) {
    return unknown_artifact(options.artifact);
  }
  return dump_artifact(run, name, table, options, out, true);
}

}  // namespace

Status dump(const std::string& path, const DumpOptions& options, std::ostream& out) {
  const fs::path file(path);
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return dump_run(path, options, out);
  if (file.extension() == ".tev") {
    return dump_event_file(path, file.filename().string(), options, out);
  }
  const std::string chains = (file.parent_path() / "chains.tcol").string();
  if (file.filename() == "tokens.tcol") return dump_tokens(path, chains, "", options, out);
  if (file.filename() == "slices.tcol") return dump_slices(path, chains, options, out);
  if (file.extension() == ".tcol") return dump_chains(path, "", options, out);
  return Error{ErrorCode::kUsage, "dump " + path + ": it is neither a run folder nor a file of one",
               "give a run folder, or a .tev or .tcol file in it"};
}

}  // namespace teller
