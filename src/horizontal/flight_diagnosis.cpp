// The reading of flight recorder dumps as diagnosis.json: the shape of a model's diagnosis, with
// what a model alone can say left null.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/terminal.h"
#include "horizontal/flight.h"
#include "horizontal/flight_words.h"
#include "horizontal/rank_verdict.h"
#include "run_folder/diagnosis_file.h"
#include "run_folder/locator.h"

namespace teller {

namespace {

using namespace flight;  // NOLINT(google-build-using-namespace): our own folder's
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEvidence = 64;
constexpr std::size_t kMostFrames = 16;
// Listed; all are counted beside the list.
constexpr std::size_t kMostWaits = 64;  // of one rank
constexpr std::size_t kMostCulprits = 1024;
constexpr std::size_t kMostAbsent = 64;  // ranks without a dump

Json optional(const std::optional<std::int64_t>& value) {
  return value ? Json(*value) : Json();
}

Json known(std::int64_t value) {
  return value < 0 ? Json() : Json(value);
}

// What is known of a job by its dumps, in the order in which it is found.
struct Reading {
  Job job;
  std::vector<Position> positions;
  Blame blame;
  std::optional<RankWords> words;
};

// Dumps alone do not tell work under way from work that does not come through.
bool is_judged(const Blame& blame) {
  return blame.verdict != "unclear" && blame.verdict != "all_in_one_place";
}

Json fault_of(const Blame& blame) {
  if (!is_judged(blame)) return nullptr;
  if (blame.suspects.empty()) return "none";
  // Its peers have completed what it has not: the path and the protocol worked.
  if (blame.verdict == "rank_stuck") return "runtime_driver";
  return "communication";
}

// Not measured on anything: rules have no odds. How firm their kinds of proof are.
double probability_of(const Job& job, const Blame& blame) {
  if (blame.suspects.empty()) return 0.1;
  if (blame.verdict == "stuck_together" || blame.may_be_earlier) return 0.5;
  if (blame.verdict != "rank_absent") return 0.95;
  // Where most dumps are absent, they were hardly all given.
  return job.ranks_without_dump.size() < job.dumps ? 0.8 : 0.4;
}

RankVerdict verdict_of(const Reading& reading) {
  RankVerdict verdict;
  for (const Suspect& suspect : reading.blame.suspects) {
    const Node& node = reading.job.nodes[suspect.node];
    if (!node.rank) continue;
    if (verdict.culprits.size() == kMostCulprits) break;
    verdict.culprits.push_back(
        {*node.rank, true, rounded(suspect.score), reading.words->of(suspect.node)});
  }
  if (reading.blame.link) {
    verdict.link = CulpritLink{reading.blame.link->first, reading.blame.link->second,
                               "both ends have enqueued the transfer, and neither completes it"};
  }
  if (!verdict.culprits.empty()) verdict.uniform = false;
  return verdict;
}

Json locator_json(const Node& node, const Operation* operation, const RunName& name) {
  Json json;
  json["run"] = name.run;
  json["host"] = name.host.empty() ? Json() : Json(name.host);
  json["rank"] = node.rank ? Json(*node.rank) : Json();
  json["pid"] = nullptr;
  json["step"] = nullptr;
  json["node"] = nullptr;
  json["layer"] = operation == nullptr ? Json() : Json("BE");
  json["family"] = operation == nullptr ? Json() : Json(flight_operation(operation->entry.name));
  json["name"] = operation == nullptr ? Json() : Json(operation->entry.name);
  json["start_ns"] = operation == nullptr ? Json() : Json(operation->entry.created_ns);
  return json;
}

Json entry_json(const Job& job, const Operation& operation) {
  const FlightEntry& entry = operation.entry;
  Json json;
  json["process_group"] = job.groups[operation.group].name;
  json["group_description"] = job.groups[operation.group].description;
  json["collective_seq_id"] = known(entry.seq);
  json["p2p_seq_id"] = known(entry.p2p_seq);
  json["record_id"] = known(entry.record_id);
  json["operation"] = entry.name;
  json["state"] = entry.state_text;
  json["contradiction"] = entry.contradiction.empty() ? Json() : Json(entry.contradiction);
  json["input_sizes"] = entry.inputs;
  json["output_sizes"] = entry.outputs;
  json["created_ns"] = entry.created_ns;
  json["started_ns"] = optional(entry.started_ns);
  json["completed_ns"] = optional(entry.completed_ns);
  json["frames"] = Json::array();
  for (const std::string& frame : entry.frames) {
    if (json["frames"].size() == kMostFrames) break;
    json["frames"].push_back(frame);
  }
  return json;
}

// The operation that says most about a rank: what it waits in, or what it did last.
const Operation* operation_of(const Node& node, const Position& position) {
  if (position.operation != kNone) return &node.operations[position.operation];
  return node.operations.empty() ? nullptr : &node.operations.back();
}

Json evidence_json(const Reading& reading, const RunName& name) {
  Json list = Json::array();
  const auto add = [&](std::size_t index, const char* role) {
    if (list.size() == kMostEvidence) return;
    const Node& node = reading.job.nodes[index];
    const Operation* operation = operation_of(node, reading.positions[index]);
    Json json;
    json["kind"] = operation == nullptr ? "rank" : "entry";
    json["role"] = role;
    json["text"] = reading.words->of(index);
    json["rank"] = node.rank ? Json(*node.rank) : Json();
    json["source"] = node.has_dump ? Json(node.source) : Json();
    json["entry"] = operation == nullptr ? Json() : entry_json(reading.job, *operation);
    json["locator"] = locator_json(node, operation, name);
    list.push_back(std::move(json));
  };
  std::vector<bool> told(reading.job.nodes.size(), false);
  for (const Suspect& suspect : reading.blame.suspects) {
    add(suspect.node, "culprit");
    told[suspect.node] = true;
  }
  for (std::size_t i = 0; i < told.size(); ++i) {
    const Standing standing = reading.positions[i].standing;
    if (!told[i] && (standing == Standing::kWaits || standing == Standing::kInside)) {
      add(i, standing == Standing::kWaits ? "victim" : "inside");
    }
  }
  return list;
}

// The first operation that some rank waits in without end.
Json first_seen_json(const Reading& reading) {
  const Node* first_node = nullptr;
  const Operation* first = nullptr;
  if (reading.blame.suspects.empty()) return {};
  for (std::size_t i = 0; i < reading.positions.size(); ++i) {
    const std::size_t index = reading.positions[i].operation;
    if (index == kNone) continue;
    const Operation& operation = reading.job.nodes[i].operations[index];
    if (first != nullptr && operation.entry.created_ns >= first->entry.created_ns) continue;
    first = &operation;
    first_node = &reading.job.nodes[i];
  }
  if (first == nullptr) return {};
  Json json;
  json["step"] = nullptr;
  json["number"] = nullptr;
  json["start_ns"] = first->entry.created_ns;
  json["rank"] = first_node->rank ? Json(*first_node->rank) : Json();
  json["entry"] = entry_json(reading.job, *first);
  return json;
}

Json ranks_json(const Reading& reading) {
  Json list = Json::array();
  std::size_t absent = 0;
  for (std::size_t i = 0; i < reading.job.nodes.size(); ++i) {
    const Node& node = reading.job.nodes[i];
    if (!node.has_dump && ++absent > kMostAbsent) continue;
    Json json;
    json["rank"] = node.rank ? Json(*node.rank) : Json();
    json["rank_from"] = node.has_dump ? Json(node.rank_from) : Json();
    json["source"] = node.has_dump ? Json(node.source) : Json();
    json["operations"] = node.operations.size();
    json["open"] = node.pending.size();
    json["outdated"] = node.is_outdated();
    const std::vector<Wait>& waits = *reading.positions[i].waits;
    json["waits_for_count"] = waits.size();
    json["waits_for"] = Json::array();
    for (const Wait& wait : waits) {
      if (json["waits_for"].size() == kMostWaits) break;
      const auto& rank = reading.job.nodes[wait.node].rank;
      json["waits_for"].push_back(rank ? Json(*rank) : Json());
    }
    json["text"] = reading.words->of(i);
    list.push_back(std::move(json));
  }
  return list;
}

Json coverage_json(const Job& job) {
  Json without_dump = Json::array();
  for (const int rank : job.ranks_without_dump) {
    if (without_dump.size() == kMostAbsent) break;
    without_dump.push_back(rank);
  }
  std::size_t by_name = 0, outdated = 0;
  for (const Node& node : job.nodes) {
    if (node.is_outdated()) ++outdated;
    if (node.rank_from == "rank from file name") ++by_name;
  }
  return {{"dumps", job.dumps},
          {"ranks", job.nodes.size()},
          {"ranks_without_dump", std::move(without_dump)},
          {"ranks_without_dump_total", job.ranks_without_dump.size()},
          {"dumps_of_unknown_rank", job.dumps_unplaced},
          {"ranks_from_file_name", by_name},
          {"dumps_superseded", job.dumps_superseded},
          {"dumps_outdated", outdated},
          {"dumps_of_unknown_version", job.dumps_of_unknown_version},
          {"entries", job.entries},
          {"entries_unread", job.entries_unread},
          {"entries_contradictory", job.entries_contradictory},
          {"fields_unread", job.fields_unread},
          {"status_contradictory", job.status_contradictory},
          {"ranks_absent_unnamed", job.absent_unnamed}};
}

Json diagnosis_json(const Reading& reading, const RunName& name) {
  const RankVerdict verdict = verdict_of(reading);
  const bool abnormal = !reading.blame.suspects.empty();
  Json json;
  json["format"] = "teller.diagnosis";
  json["version"] = 1;
  json["method"] = "flight_records";
  json["run_name"] = name.run;
  json["model"] = nullptr;
  const bool judged = is_judged(reading.blame);
  json["abnormal"] = judged ? Json(abnormal) : Json();
  json["judged"] = judged;
  json["fault_type"] = fault_of(reading.blame);
  json["verdict"] = reading.blame.verdict;
  json["probability"] = judged ? Json(probability_of(reading.job, reading.blame)) : Json();
  json["prior"] = nullptr;
  json["abnormal_steps"] = Json::array();
  json["operators"] = Json::array();
  json["requests"] = Json::array();
  json["culprit_ranks"] = Json::array();
  json["culprits"] = Json::array();
  for (const CulpritRank& culprit : verdict.culprits) {
    json["culprit_ranks"].push_back(culprit.rank);
    json["culprits"].push_back(
        {{"rank", culprit.rank}, {"score", culprit.score}, {"why", culprit.why}});
  }
  json["culprit_ranks_total"] = std::count_if(
      reading.blame.suspects.begin(), reading.blame.suspects.end(),
      [&](const Suspect& one) { return reading.job.nodes[one.node].rank.has_value(); });
  json["culprit_link"] = nullptr;
  if (verdict.link) {
    json["culprit_link"] = {
        {"from", verdict.link->from}, {"to", verdict.link->to}, {"why", verdict.link->why}};
  }
  json["uniform"] = verdict.uniform ? Json(*verdict.uniform) : Json();
  json["first_seen"] = first_seen_json(reading);
  json["evidence"] = evidence_json(reading, name);
  json["explanation"] = explanation_words(reading.job, *reading.words, reading.blame);
  json["check_next"] = check_next_words(reading.blame);
  json["ranks"] = ranks_json(reading);
  json["coverage"] = coverage_json(reading.job);
  for (const Json& one : json["evidence"]) {
    if (one["role"] == "culprit" && one["kind"] == "entry") {
      json["operators"].push_back(one["locator"]);
    }
  }
  return json;
}

}  // namespace

Result<Json> diagnose_flight(RunFolder& run) {
  Reading reading;
  TELLER_TRY(std::vector<Dump> dumps, load_dumps(run));
  reading.job = make_job(std::move(dumps));
  reading.positions = find_positions(reading.job);
  const WaitGraph graph(reading.positions);
  reading.blame = find_blame(reading.job, reading.positions, graph);
  reading.words.emplace(reading.job, reading.positions, graph);
  Json json = diagnosis_json(reading, run_name(run));
  TELLER_CHECK_OK(publish_diagnosis(run, json, {"events"}));
  return json;
}

}  // namespace teller
