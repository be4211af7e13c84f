#include "report/report.h"

#include "base/file.h"
#include "base/json.h"
#include "report/document.h"
#include "run_folder/open_chains.h"

namespace teller {
namespace {

using report_detail::Json;

constexpr std::uint64_t kMostBytes = 256u << 20;

struct Judgement {
  Json json;           // null unless current
  std::string status;  // "current", "missing", "stale"
};

// Reads the artefact `name`, one JSON document of format teller.`name`, version 1, that `command`
// makes.
Result<Judgement> read_judgement(const RunFolder& run, const std::string& name,
                                 const std::string& command) {
  const auto files = run.require_artifact(name);
  if (!files) {
    const bool stale = files.error().code == ErrorCode::kStale;
    if (!stale && files.error().code != ErrorCode::kNotFound) return files.error();
    return Judgement{Json(), stale ? "stale" : "missing"};
  }
  if (files->empty()) return Judgement{Json(), "missing"};
  TELLER_TRY(const std::string text, read_file(run.file(files->front()), name, kMostBytes));
  Json json = parse_json(text);
  const std::string what = "reading " + name + " of run " + run.path() + ": ";
  const std::string again = "run teller " + command + " RUN again";
  if (member(json, "format") != "teller." + name) {
    return Error{ErrorCode::kCorrupt, what + "it holds something else", again};
  }
  if (member(json, "version") != 1) {
    return Error{ErrorCode::kUnsupported, what + "made by another version of teller", again};
  }
  return Judgement{std::move(json), "current"};
}

}  // namespace

Result<nlohmann::ordered_json> build_report(const RunFolder& run, const ReportOptions& options) {
  TELLER_TRY(const Chains chains, open_chains(run));
  TELLER_TRY(const Judgement findings, read_judgement(run, "findings", "slice"));
  TELLER_TRY(const Judgement diagnosis, read_judgement(run, "diagnosis", "diagnose"));
  const report_detail::Source source{run, chains, findings.json, diagnosis.json, options};
  TELLER_TRY(const report_detail::ChainChoice choice, report_detail::choose_chain(source));
  Json document;
  document["format"] = "teller.report";
  document["version"] = 1;
  document["run"] = report_detail::run_json(source);
  document["diagnosis_status"] = diagnosis.status;
  document["diagnosis"] = diagnosis.json;
  document["diagnosis_logs"] = report_detail::diagnosis_logs_json(source);
  document["findings"] = findings.status;
  document["suspects"] = report_detail::suspects_json(source);
  document["stands_out"] = report_detail::stands_out_json(source);
  TELLER_TRY(document["surroundings"], report_detail::surroundings_json(run));
  document["requests"] = report_detail::requests_json(source);
  document["request_steps"] = nullptr;
  if (options.request) {
    document["request_steps"] = report_detail::request_steps_json(source, choice.request);
  }
  document["chain"] = report_detail::chain_json(source, choice);
  document["logs"] = report_detail::logs_json(source, choice);
  return document;
}

}  // namespace teller
