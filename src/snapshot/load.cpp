#include "snapshot/load.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "snapshot/native_stack.h"
#include "snapshot/stacks.h"
#include "snapshot/write.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kMostBytes = 256u << 20;

std::optional<int> small_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number_integer()) return std::nullopt;
  const auto number = value.get<std::int64_t>();
  return number >= 0 && number < (1 << 30) ? std::optional(static_cast<int>(number)) : std::nullopt;
}

Stack load_stack(const Json& list) {
  Stack stack;
  if (!list.is_array()) return stack;
  for (const Json& one : list) {
    if (stack.size() == 3 * kMostFrames) break;
    stack.push_back({member(one, "layer") == "FE", text_of(one, "function"), text_of(one, "file"),
                     small_of(one, "line").value_or(0)});
  }
  return stack;
}

SeenThread load_thread(const Json& json) {
  SeenThread thread;
  thread.tid = number_of(json, "tid", 0);
  thread.name = text_of(json, "name");
  thread.behaviour = text_of(json, "behaviour");
  thread.cpu_share = real_of(json, "cpu_share");
  thread.syscall = text_of(json, "syscall");
  const Json& on = member(json, "waits_on");
  thread.on_socket = member(on, "protocol").is_string();
  thread.target = thread.on_socket ? text_of(on, "peer") : text_of(on, "target");
  thread.wait_channel = text_of(json, "wait_channel");
  thread.for_ever = member(json, "for_ever") == true;
  const Json& futex = member(json, "futex");
  if (futex.is_number_unsigned()) thread.futex = futex.get<std::uint64_t>();
  thread.lock_owner = number_of(json, "lock_owner", 0);
  thread.owns_gil = member(json, "owns_gil") == true;
  thread.stack = load_stack(member(json, "stack"));
  // Without py-spy the interpreter's own functions tell that a thread runs Python.
  thread.has_python = member(json, "has_python") == true ||
                      std::any_of(thread.stack.begin(), thread.stack.end(), is_interpreter);
  return thread;
}

std::string command_of(const Json& argv) {
  std::string command;
  if (!argv.is_array()) return command;
  for (const Json& argument : argv) {
    if (!argument.is_string()) continue;
    for (const char c : argument.get_ref<const std::string&>()) {
      if (c < '0' || c > '9') command += c;
    }
    command += ' ';
  }
  return command;
}

SeenProcess load_process(const Json& json) {
  SeenProcess process;
  process.pid = number_of(json, "pid", 0);
  process.ppid = number_of(json, "ppid", 0);
  process.role = text_of(json, "role");
  const std::string state = text_of(json, "state");
  if (!state.empty()) process.state = state[0];
  process.rank = small_of(json, "rank");
  process.world_size = small_of(json, "world_size");
  process.local_rank = small_of(json, "local_rank");
  process.local_world_size = small_of(json, "local_world_size");
  process.master = text_of(json, "master");
  process.command = command_of(member(json, "argv"));
  process.exit_code = small_of(json, "exit");
  process.signal = small_of(json, "signal");
  const Json& threads = member(json, "threads");
  if (threads.is_array()) {
    for (const Json& thread : threads) process.threads.push_back(load_thread(thread));
  }
  return process;
}

}  // namespace

const SeenProcess* Seen::find(std::int64_t pid) const {
  for (const SeenProcess& process : processes) {
    if (process.pid == pid) return &process;
  }
  return nullptr;
}

Result<Seen> load_snapshot(const RunFolder& run) {
  TELLER_TRY(const auto files, run.require_artifact("snapshot"));
  static_cast<void>(files);
  TELLER_TRY(const std::string text, read_file(run.file(kSnapshotFile), "snapshot", kMostBytes));
  const Json document = parse_json(text);
  const std::string what = "reading the snapshot of run " + run.path() + ": ";
  if (text_of(document, "format") != "teller.snapshot" ||
      !member(document, "processes").is_array()) {
    return Error{ErrorCode::kCorrupt, what + "it holds something else",
                 "take it again with teller snapshot"};
  }
  if (member(document, "version") != 1) {
    return Error{ErrorCode::kUnsupported, what + "made by another version of teller",
                 "use that version"};
  }
  Seen seen;
  for (const Json& process : member(document, "processes"))
    seen.processes.push_back(load_process(process));
  const Json& taken = member(document, "taken");
  seen.begin_ns = number_of(taken, "begin_ns", 0);
  seen.window_s = static_cast<double>(number_of(taken, "window_ns", 0)) / 1e9;
  seen.samples = static_cast<int>(number_of(taken, "samples", 0));
  seen.whole_job = member(taken, "whole_job") == true;
  seen.gaps = member(document, "gaps").size();
  return seen;
}

}  // namespace teller::snapshot_detail
