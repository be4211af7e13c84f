// The comparison of ranks as part of diagnosis.json, or as all of it.
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "horizontal/doing.h"
#include "horizontal/horizontal.h"
#include "run_folder/diagnosis_file.h"
#include "run_folder/locator.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kReportLimit = 256u << 20;

// horizontal.json; null where the run has none that is current.
Result<Json> read_comparison(const RunFolder& run) {
  if (!run.require_artifact("horizontal")) return Json();
  TELLER_TRY(const std::string text,
             read_file(run.file(kHorizontalFile), "comparison of ranks", kReportLimit));
  Json json = parse_json(text);
  if (!member(json, "verdict").is_object()) {
    return Error{ErrorCode::kCorrupt,
                 "reading " + run.file(kHorizontalFile) + ": it is no comparison of ranks",
                 "run teller reconstruct RUN again"};
  }
  return json;
}

bool names_someone(const Json& verdict) {
  const Json culprits = member(verdict, "culprits");
  return (culprits.is_array() && !culprits.empty()) || member(verdict, "link").is_object() ||
         member(verdict, "uniform") == true;
}

// A straggler goes by why its rank is late.
std::string fault_of(const Json& verdict) {
  if (member(verdict, "link").is_object()) return "communication";
  if (member(verdict, "uniform") == true) return "unknown";
  const Json doing = member(verdict, "doing");
  if (doing == horizontal_detail::doing_words(horizontal_detail::Doing::kDevice)) {
    return "cuda_kernel";
  }
  // Nobody was late: a rank did not come at all, or called something else.
  if (doing == horizontal_detail::doing_words(horizontal_detail::Doing::kUnknown)) {
    return "communication";
  }
  return "scheduling";
}

// Ranks that could not be told apart were not compared: nobody can call them healthy.
bool is_unclear(const Json& verdict) {
  return member(verdict, "told_apart") == false;
}

// Nor where ranks have hardly a collective in common.
bool are_too_few(const Json& verdict) {
  return member(verdict, "too_few_collectives") == true;
}

std::string notes_of(const Json& verdict) {
  std::string text;
  for (const Json& line : member(verdict, "notes")) {
    if (line.is_string()) text += " Ranks: " + line.get<std::string>() + ".";
  }
  return text;
}

std::string explanation_of(const Json& verdict) {
  std::string text;
  for (const Json& line : member(verdict, "evidence")) {
    if (line.is_string()) text += (text.empty() ? "Ranks: " : " ") + line.get<std::string>() + ".";
  }
  if (text.empty() && is_unclear(verdict))
    return "Not all ranks were compared." + notes_of(verdict);
  if (text.empty() && are_too_few(verdict)) {
    return "Ranks: they were not compared, for they have too few finished collectives in common to "
           "tell whether one comes "
           "late." +
           notes_of(verdict);
  }
  if (text.empty()) {
    return "Ranks: none of them comes late to collectives beyond what healthy ones scatter by." +
           notes_of(verdict);
  }
  return text + notes_of(verdict);
}

void put_verdict(const Json& verdict, Json& diagnosis) {
  Json ranks = Json::array();
  for (const Json& one : member(verdict, "culprits")) {
    if (member(one, "rank").is_number_integer()) ranks.push_back(one["rank"]);
  }
  diagnosis["culprit_ranks"] = std::move(ranks);
  const Json link = member(verdict, "link");
  diagnosis["culprit_link"] =
      link.is_object() ? Json::array({member(link, "from"), member(link, "to")}) : Json();
  diagnosis["uniform"] = member(verdict, "uniform");
  if (!diagnosis["evidence"].is_array()) diagnosis["evidence"] = Json::array();
  for (const Json& line : member(verdict, "evidence")) {
    diagnosis["evidence"].push_back({{"kind", "rank"}, {"text", line}});
  }
  for (const Json& line : member(verdict, "notes")) {
    diagnosis["evidence"].push_back({{"kind", "rank"}, {"text", line}});
  }
}

}  // namespace

Result<Json> with_ranks(const RunFolder& run, Json diagnosis) {
  TELLER_TRY(const Json comparison, read_comparison(run));
  if (comparison.is_null()) return diagnosis;
  const Json& verdict = comparison["verdict"];
  put_verdict(verdict, diagnosis);
  std::string text = member(diagnosis, "explanation").is_string()
                         ? diagnosis["explanation"].get<std::string>()
                         : "";
  if (names_someone(verdict) && member(diagnosis, "abnormal") != true) {
    diagnosis["abnormal"] = true;
    diagnosis["fault_type"] = fault_of(verdict);
    text = "The model finds no fault in the steps by themselves, the comparison of ranks does.";
  }
  // No verdict is not a healthy one.
  if (is_unclear(verdict) && member(diagnosis, "abnormal") == false) {
    diagnosis["abnormal"] = nullptr;
    diagnosis["fault_type"] = nullptr;
    diagnosis["judged"] = false;
  } else if (names_someone(verdict) || (!is_unclear(verdict) && !are_too_few(verdict))) {
    diagnosis["judged"] = true;
  }
  diagnosis["explanation"] = text + " " + explanation_of(verdict);
  return diagnosis;
}

Status publish_with_ranks(RunFolder& run, const Json& diagnosis) {
  const Json options = member(member(member(run.manifest(), "artifacts"), "diagnosis"), "options");
  return publish_diagnosis(run, diagnosis, {"chains", "slices", "tokens", "horizontal"},
                           options.is_object() ? options.dump() : "{}");
}

Result<Json> diagnose_ranks(RunFolder& run) {
  TELLER_TRY(const Json comparison, read_comparison(run));
  if (comparison.is_null()) {
    return Error{ErrorCode::kUnsupported,
                 "diagnosing run " + run.path() + ": it has no step, and fewer than two ranks",
                 "a verdict needs engine steps, or ranks to compare"};
  }
  const Json& verdict = comparison["verdict"];
  const bool abnormal = names_someone(verdict);
  Json json = {{"format", "teller.diagnosis"}, {"version", 1}, {"run_name", run_name(run).run}};
  json["model"] = nullptr;
  const bool unclear = !abnormal && (is_unclear(verdict) || are_too_few(verdict));
  json["abnormal"] = unclear ? Json() : Json(abnormal);
  json["judged"] = !unclear;
  json["fault_type"] = unclear ? Json() : Json(abnormal ? fault_of(verdict) : "none");
  json["probability"] = nullptr;
  json["probabilities"] = nullptr;
  json["abnormal_steps"] = Json::array();
  json["operators"] = Json::array();
  json["requests"] = Json::array();
  put_verdict(verdict, json);
  json["first_seen"] = nullptr;
  json["explanation"] =
      explanation_of(verdict) + " The run has no steps: only its ranks were compared, by rules.";
  json["coverage"] = {{"collectives", member(member(comparison, "collectives"), "collectives")}};
  TELLER_CHECK_OK(publish_diagnosis(run, json, {"horizontal"}));
  return json;
}

}  // namespace teller
