#include "report/report.h"

#include "base/file.h"
#include "report/document.h"
#include "run_folder/open_chains.h"

namespace teller {
namespace {

using report_detail::Json;

constexpr std::uint64_t kMostFindingsBytes = 256u << 20;

struct Findings {
  Json json;
  std::string status;  // "current", "missing", "stale"
};

Result<Findings> read_findings(const RunFolder& run) {
  const auto files = run.require_artifact("findings");
  if (!files) {
    const bool stale = files.error().code == ErrorCode::kStale;
    if (!stale && files.error().code != ErrorCode::kNotFound) return files.error();
    return Findings{Json(), stale ? "stale" : "missing"};
  }
  if (files->empty()) return Findings{Json(), "missing"};
  TELLER_TRY(const std::string text,
             read_file(run.file(files->front()), "findings", kMostFindingsBytes));
  Json json = Json::parse(text, nullptr, false);
  const Json format = report_detail::member(json, "format");
  if (format != "teller.findings") {
    return Error{ErrorCode::kCorrupt, "reading findings of run " + run.path() + ": not findings",
                 "run teller slice RUN again"};
  }
  if (report_detail::member(json, "version") != 1) {
    return Error{ErrorCode::kUnsupported,
                 "reading findings of run " + run.path() + ": made by another version of teller",
                 "run teller slice RUN again"};
  }
  return Findings{std::move(json), "current"};
}

}  // namespace

Result<nlohmann::ordered_json> build_report(const RunFolder& run, const ReportOptions& options) {
  TELLER_TRY(const Chains chains, open_chains(run));
  TELLER_TRY(const Findings findings, read_findings(run));
  const report_detail::Source source{run, chains, findings.json, options};
  TELLER_TRY(const report_detail::ChainChoice choice, report_detail::choose_chain(source));
  Json document;
  document["format"] = "teller.report";
  document["version"] = 1;
  document["run"] = report_detail::run_json(source);
  document["findings"] = findings.status;
  document["suspects"] = report_detail::suspects_json(source);
  document["stands_out"] = report_detail::stands_out_json(source);
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
