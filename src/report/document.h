// The parts of the report's document. Each function makes one.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "report/report.h"
#include "run_folder/chains.h"

namespace teller::report_detail {

using Json = nlohmann::ordered_json;

// What the parts are made from. `findings` and `diagnosis` are null where there are none, or stale
// ones.
struct Source {
  const RunFolder& run;
  const Chains& chains;
  const Json& findings;
  const Json& diagnosis;
  const ReportOptions& options;
};

// The step's name for people: the engine's number, or the index where it has none.
std::int64_t step_number(const Chains& chains, std::uint32_t step);
// {"step": index, "number": step_number}
Json step_json(const Chains& chains, std::uint32_t step);

// Name, program, when, how long, size, losses.
Json run_json(const Source& source);
// The requests that the findings suspect, most suspicious first, each with its reasons: first and
// last step, log lines in full, what to check next. Empty without findings.
Json suspects_json(const Source& source);
// What concerns no single request, operators, instances, notes and verdict; null without findings.
Json stands_out_json(const Source& source);
// What was sampled around the program and may explain a slow or failed run: `samples`, and `notes`
// with `kind`, `text` and `check_next`. Null where nothing was sampled.
Result<Json> surroundings_json(const RunFolder& run);

// Whether the diagnosis calls the run abnormal.
bool is_abnormal(const Json& diagnosis);
// Indices of the requests that the diagnosis names, most suspicious first: at most kMostDiagnosed.
// Empty if it calls the run healthy.
inline constexpr std::size_t kMostDiagnosed = 100;
std::vector<std::uint32_t> diagnosed_requests(const Source& source);
// Indices of the steps that it calls abnormal, in order.
std::vector<std::uint32_t> diagnosed_steps(const Source& source);
// Log lines that its evidence cites, then those of abnormal steps that are severe or of a request
// that it names: a few.
Json diagnosis_logs_json(const Source& source);

// The request of that id; kNoIndex if there is none.
std::uint32_t find_request(const Chains& chains, std::string_view id);
// Indices of the requests that the findings suspect, most suspicious first.
std::vector<std::uint32_t> suspects(const Source& source);
// By request: whether the findings suspect it.
std::vector<bool> suspect_flags(const Source& source);
// All requests: suspects first, then by latency.
Json requests_json(const Source& source);
// The steps of one request, in order.
Json request_steps_json(const Source& source, std::uint32_t request);

// The step whose chain is shown, for whom, and why this one.
struct ChainChoice {
  std::uint32_t step = kNoIndex;
  std::uint32_t root = kNoIndex;  // of the tree: the step's, or one of what lies outside any step
  std::uint32_t request = kNoIndex;  // kNoIndex: the whole step
  std::string why;
};
Result<ChainChoice> choose_chain(const Source& source);
// Its tree, siblings of one family taken together.
Json chain_json(const Source& source, const ChainChoice& choice);

// Log lines of the chain's step, of the suspects, and errors.
Json logs_json(const Source& source, const ChainChoice& choice);
// One log line with what it was aligned to.
Json log_json(const Chains& chains, std::uint32_t line);

// A JSON number as an index below `count`; kNoIndex if it is anything else.
std::uint32_t index_below(const Json& number, std::size_t count);

}  // namespace teller::report_detail
