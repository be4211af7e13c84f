// The reading of a snapshot as diagnosis.json: the shape of a model's diagnosis, with what a model
// alone can say left null.
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/terminal.h"
#include "run_folder/diagnosis_file.h"
#include "run_folder/locator.h"
#include "snapshot/reading.h"
#include "snapshot/snapshot.h"

namespace teller {

namespace {

using namespace snapshot_detail;  // NOLINT(google-build-using-namespace): our own folder's
using Json = nlohmann::ordered_json;

constexpr std::size_t kMostEvidence = 64;
constexpr std::size_t kShownStack = 12;

std::string event_name(const Frame& frame) {
  return frame.python ? frame.file.substr(frame.file.rfind('/') + 1) + ": " + frame.function
                      : frame.function;
}

Json optional(const std::optional<int>& value) {
  return value ? Json(*value) : Json();
}

Json locator_json(const Evidence& one, const Seen& seen, const RunName& name) {
  const Frame* frame = one.thread != nullptr && one.frame >= 0
                           ? &one.thread->stack[static_cast<std::size_t>(one.frame)]
                           : nullptr;
  Json json;
  json["run"] = name.run;
  json["host"] = name.host.empty() ? Json() : Json(name.host);
  json["rank"] = optional(one.process->rank);
  json["pid"] = one.process->pid;
  json["tid"] = one.thread == nullptr ? Json() : Json(one.thread->tid);
  json["step"] = nullptr;
  json["node"] = nullptr;
  json["layer"] = frame == nullptr ? Json() : Json(frame->python ? "FE" : "BE");
  json["family"] = frame == nullptr ? Json() : Json(event_name(*frame));
  json["name"] = frame == nullptr ? Json() : Json(event_name(*frame));
  json["line"] = frame == nullptr || frame->line == 0 ? Json() : Json(frame->line);
  json["start_ns"] = seen.begin_ns;
  return json;
}

Json evidence_json(const Verdict& verdict, const Seen& seen, const RunName& name) {
  Json list = Json::array();
  for (const Evidence& one : verdict.evidence) {
    if (list.size() == kMostEvidence) break;
    Json json = {{"kind", one.thread == nullptr ? "process" : "thread"}, {"text", one.text}};
    json["locator"] = locator_json(one, seen, name);
    json["stack"] = Json::array();
    if (one.thread != nullptr) {
      for (const Frame& frame : one.thread->stack) {
        if (json["stack"].size() == kShownStack) break;
        json["stack"].push_back(frame_words(frame));
      }
    }
    list.push_back(std::move(json));
  }
  return list;
}

// The culprits' places, as operators are named in a model's diagnosis.
Json operators_json(const Verdict& verdict, const Seen& seen, const RunName& name) {
  Json list = Json::array();
  if (!verdict.abnormal) return list;
  for (const Evidence& one : verdict.evidence) {
    bool culprit = false;
    for (const std::int64_t pid : verdict.culprit_pids) culprit |= pid == one.process->pid;
    if (culprit && one.thread != nullptr && one.frame >= 0)
      list.push_back(locator_json(one, seen, name));
  }
  return list;
}

Json processes_json(const std::vector<ProcessReading>& readings) {
  Json list = Json::array();
  for (const ProcessReading& reading : readings) {
    const Evidence evidence = evidence_of(reading);
    Json json;
    json["pid"] = reading.process->pid;
    json["ppid"] = reading.process->ppid;
    json["rank"] = optional(reading.process->rank);
    json["state"] = std::string(1, reading.process->state);
    json["waits_for"] = reading.dead                ? Json("dead")
                        : reading.thread == nullptr ? Json()
                                                    : Json(wait_name(reading.wait.kind));
    json["behaviour"] = reading.thread == nullptr ? Json() : Json(reading.thread->behaviour);
    json["progress"] = reading.progress;
    json["text"] = evidence.text;
    json["threads"] = Json::array();
    for (std::size_t i = 0; i < reading.waits.size(); ++i) {
      const SeenThread& thread = reading.process->threads[i];
      const int frame = own_frame(thread.stack);
      json["threads"].push_back(
          {{"tid", thread.tid},
           {"name", thread.name},
           {"waits_for", wait_name(reading.waits[i].kind)},
           {"behaviour", thread.behaviour},
           {"frame", frame < 0
                         ? Json()
                         : Json(frame_words(thread.stack[static_cast<std::size_t>(frame)]))}});
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json coverage_json(const Seen& seen) {
  std::size_t threads = 0, stacks = 0;
  for (const SeenProcess& process : seen.processes) {
    threads += process.threads.size();
    for (const SeenThread& thread : process.threads) stacks += thread.stack.empty() ? 0 : 1;
  }
  return {{"processes", seen.processes.size()}, {"threads", threads},
          {"threads_with_stack", stacks},       {"samples", seen.samples},
          {"window_s", rounded(seen.window_s)}, {"gaps", seen.gaps}};
}

Json diagnosis_json(const Seen& seen, const RunName& name) {
  const std::vector<ProcessReading> readings = read_processes(seen);
  const Verdict verdict = judge(seen, readings);
  Json json;
  json["format"] = "teller.diagnosis";
  json["version"] = 1;
  json["method"] = "snapshot";
  json["run_name"] = name.run;
  json["model"] = nullptr;
  json["abnormal"] = verdict.abnormal;
  json["fault_type"] = verdict.fault_type;
  json["verdict"] = verdict.name;
  json["probability"] = nullptr;
  json["prior"] = nullptr;
  json["abnormal_steps"] = Json::array();
  json["operators"] = operators_json(verdict, seen, name);
  json["requests"] = Json::array();
  json["culprit_ranks"] = verdict.culprit_ranks;
  json["culprit_pids"] = verdict.culprit_pids;
  json["culprit_link"] = nullptr;
  json["uniform"] = verdict.abnormal ? Json(verdict.culprit_pids.empty()) : Json();
  json["first_seen"] = nullptr;
  json["evidence"] = evidence_json(verdict, seen, name);
  json["explanation"] = verdict.explanation;
  json["check_next"] = verdict.check_next;
  json["processes"] = processes_json(readings);
  json["coverage"] = coverage_json(seen);
  return json;
}

std::string safe(const Json& json) {
  return printable(json.is_string() ? json.get<std::string>() : json.dump());
}

std::string line(const char* title, const std::string& text) {
  return std::string("  ") + title + std::string(10 - std::char_traits<char>::length(title), ' ') +
         text + "\n";
}

}  // namespace

Result<Json> diagnose_snapshot(RunFolder& run) {
  TELLER_TRY(const Seen seen, load_snapshot(run));
  Json json = diagnosis_json(seen, run_name(run));
  TELLER_CHECK_OK(publish_diagnosis(run, json, {"snapshot"}));
  return json;
}

std::string snapshot_diagnosis_text(const Json& diagnosis) {
  const bool abnormal = diagnosis["abnormal"] == true;
  const std::string verdict = safe(diagnosis["verdict"]);
  std::string text = "verdict: ";
  text += !abnormal                              ? verdict
          : diagnosis["fault_type"] == "unknown" ? "abnormal, " + verdict + ", cause unknown"
                                                 : safe(diagnosis["fault_type"]) + ", " + verdict;
  const Json& coverage = diagnosis["coverage"];
  text +=
      "\n" + line("method", "snapshot: rules over " + coverage["samples"].dump() + " samples of " +
                                coverage["processes"].dump() + " processes in " +
                                coverage["window_s"].dump() + " s; no model");
  if (!diagnosis["culprit_ranks"].empty()) {
    std::string ranks;
    for (const Json& rank : diagnosis["culprit_ranks"])
      ranks += (ranks.empty() ? "" : ", ") + rank.dump();
    text += line("suspects", "rank " + ranks);
  }
  std::size_t shown = 0;
  for (const Json& one : diagnosis["evidence"]) {
    text += line("evidence", safe(one["text"]));
    if (shown++ == 0) {
      for (const Json& frame : one["stack"]) text += line("", "  " + safe(frame));
    }
    if (shown == 12 && diagnosis["evidence"].size() > shown) {
      text += line("", "… (" + std::to_string(diagnosis["evidence"].size() - shown) + " more)");
      break;
    }
  }
  if (coverage["gaps"] != 0)
    text += line("gaps", coverage["gaps"].dump() +
                             " parts could not be had: teller dump RUN snapshot, \"gaps\"");
  text += safe(diagnosis["explanation"]) + "\n";
  if (!diagnosis["check_next"].get<std::string>().empty())
    text += safe(diagnosis["check_next"]) + "\n";
  return text;
}

}  // namespace teller
