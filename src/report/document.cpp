#include "report/document.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/saturate.h"

namespace teller::report_detail {
namespace {

constexpr std::uint64_t kMostJsonBytes = 64u << 20;

std::pair<std::int64_t, std::int64_t> window(const Chains& chains) {
  std::int64_t begin = INT64_MAX, end = INT64_MIN;
  for (std::uint32_t node = 0; node < chains.node_count(); ++node) {
    begin = std::min(begin, chains.nodes.begin_ns[node]);
    end = std::max(end, chains.nodes.end_ns[node]);
  }
  for (const std::int64_t seen : chains.requests.first_seen_ns) {
    if (seen >= 0) begin = std::min(begin, seen);
  }
  return begin <= end ? std::pair{begin, end} : std::pair<std::int64_t, std::int64_t>{0, 0};
}

Json layers_json(const Chains& chains) {
  std::array<std::uint64_t, 6> counts{};
  for (const std::uint8_t layer : chains.nodes.layer) ++counts[std::min<std::size_t>(layer, 5)];
  Json json = Json::object();
  for (std::size_t layer = 0; layer < counts.size(); ++layer) {
    if (counts[layer] > 0) json[std::string(layer_name(static_cast<Layer>(layer)))] = counts[layer];
  }
  return json;
}

// Counters of the capture and of reconstruct that are not zero and mean that something is missing.
Json losses_json(const RunFolder& run) {
  Json losses = Json::object();
  const auto take = [&losses](const Json& counters, std::string_view from) {
    if (!counters.is_object()) return;
    for (const auto& [name, value] : counters.items()) {
      if (!value.is_number() || value == 0) continue;
      for (const std::string_view part :
           {"drop", "lost", "malformed", "unreadable", "outside", "open_items", "without_call",
            "without_activity", "unaligned", "overwritten"}) {
        if (name.find(part) == std::string::npos) continue;
        losses[std::string(from) + "." + name] = value;
        break;
      }
    }
  };
  take(member(run.manifest(), "counters"), "capture");
  if (const auto text = read_file(run.file("reconstruct.json"), "counts", kMostJsonBytes)) {
    const Json counts = Json::parse(*text, nullptr, false);
    take(member(counts, "counters"), "reconstruct");
    take(counts, "reconstruct");
  }
  const Json stopped = member(run.manifest(), "capture_stopped");
  if (stopped.is_string()) losses["capture_stopped"] = stopped;
  return losses;
}

constexpr const char* kCheckSlow =
    "Compare what runs below this operator for this request with a batch-mate's (teller report RUN "
    "--request ID): another kernel, data type or code path; then what is special about the request "
    "(length, sampling parameters, adapter).";
constexpr const char* kCheckPassed =
    "Look at why the scheduler skips it: priority or fairness state kept per request, a dependency "
    "(grammar, remote KV, adapter) that never becomes ready, its place in the queue.";
constexpr const char* kCheckPreempted =
    "Look at who holds the KV blocks when it is preempted, at the pool's size against the sequence "
    "lengths, and at how the victim is chosen.";
constexpr const char* kCheckPool =
    "Compare the pool's size and the load (concurrent sequences, lengths) with the healthy run.";
constexpr const char* kCheckFailed =
    "Read the first failing call's code and the log lines beside it.";
constexpr const char* kCheckOpen =
    "The deepest node that had not ended is where the program was: look at that call first.";
constexpr const char* kCheckRun =
    "Compare machine, clocks, CPU share and configuration with the healthy run before anything "
    "else.";

const char* what_to_check(const std::string& kind) {
  constexpr std::pair<std::string_view, const char*> kTable[] = {
      {"slow_operator", kCheckSlow},     {"passed_over", kCheckPassed},
      {"preempted", kCheckPreempted},    {"pool_short", kCheckPool},
      {"failed_call", kCheckFailed},     {"unfinished_step", kCheckOpen},
      {"ended_inside_step", kCheckOpen}, {"run_slower", kCheckRun}};
  for (const auto& [name, text] : kTable) {
    if (name == kind) return text;
  }
  return "";
}

// One reason of the findings, with log lines in full.
Json reason_json(const Chains& chains, const Json& reason) {
  Json json = reason.is_object() ? reason : Json::object();
  const Json steps = member(reason, "steps");
  json["first_step"] = nullptr;
  json["last_step"] = nullptr;
  if (steps.is_array() && !steps.empty()) {
    const std::uint32_t first = index_below(steps.front(), chains.step_count());
    const std::uint32_t last = index_below(steps.back(), chains.step_count());
    if (first != kNoIndex) json["first_step"] = step_json(chains, first);
    if (last != kNoIndex) json["last_step"] = step_json(chains, last);
    if (first != kNoIndex) json["first_seen_ns"] = chains.steps.begin_ns[first];
  }
  json["log_lines"] = Json::array();
  for (const Json& number : member(reason, "log_lines")) {
    const std::uint32_t line = index_below(number, chains.log_count());
    if (line != kNoIndex) json["log_lines"].push_back(log_json(chains, line));
  }
  const Json kind = member(reason, "kind");
  json["check_next"] = what_to_check(kind.is_string() ? kind.get<std::string>() : "");
  return json;
}

}  // namespace

std::uint32_t index_below(const Json& number, std::size_t count) {
  if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= count) return kNoIndex;
  return number.get<std::uint32_t>();
}

std::int64_t step_number(const Chains& chains, std::uint32_t step) {
  const std::int64_t number = chains.steps.number[step];
  return number >= 0 ? number : static_cast<std::int64_t>(step);
}

Json step_json(const Chains& chains, std::uint32_t step) {
  return {{"step", step}, {"number", step_number(chains, step)}};
}

Json run_json(const Source& source) {
  const Json& manifest = source.run.manifest();
  const Chains& chains = source.chains;
  const auto [begin, end] = window(chains);
  const Json target = member(manifest, "target");
  Json json;
  json["path"] = source.run.path();
  json["made_by"] = member(manifest, "made_by");
  json["state"] = member(manifest, "state");
  json["program"] = member(target, "argv");
  json["exit_code"] = member(target, "exit_code");
  json["signal"] = member(target, "signal");
  json["host"] = member(member(manifest, "host"), "name");
  json["begin_ns"] = begin;
  json["duration_ns"] = saturating_sub(end, begin);
  const Json offset = member(member(manifest, "clock"), "unix_offset_ns");
  json["begin_unix_ns"] = nullptr;
  if (offset.is_number_integer())
    json["begin_unix_ns"] = saturating_add(begin, offset.get<std::int64_t>());
  json["steps"] = chains.step_count();
  json["requests"] = chains.request_count();
  json["nodes"] = chains.node_count();
  json["nodes_outside_steps"] =
      std::count(chains.nodes.step.begin(), chains.nodes.step.end(), kNoIndex);
  json["layers"] = layers_json(chains);
  json["sources"] = chains.source_count();
  json["log_lines"] = chains.log_count();
  json["losses"] = losses_json(source.run);
  return json;
}

Json suspects_json(const Source& source) {
  Json json = Json::array();
  for (const Json& request : member(source.findings, "requests")) {
    Json one = {{"id", member(request, "id")},
                {"score", member(request, "score")},
                {"reasons", Json::array()}};
    for (const Json& reason : member(request, "reasons")) {
      one["reasons"].push_back(reason_json(source.chains, reason));
    }
    json.push_back(std::move(one));
  }
  return json;
}

Json stands_out_json(const Source& source) {
  const Json& findings = source.findings;
  if (!findings.is_object()) return {};
  Json json;
  json["verdict"] = member(findings, "verdict");
  json["baseline"] = member(findings, "baseline");
  json["run"] = Json::array();
  for (const Json& reason : member(findings, "run")) {
    json["run"].push_back(reason_json(source.chains, reason));
  }
  json["operators"] = member(findings, "operators");
  json["instances"] = member(findings, "instances");
  json["notes"] = member(findings, "notes");
  return json;
}

}  // namespace teller::report_detail
