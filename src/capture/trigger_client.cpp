// The other side of the recorder's control socket.
#include <nlohmann/json.hpp>

#include "capture/capture.h"
#include "capture/control_socket.h"
#include "redact/redact.h"
#include "run_folder/run_folder.h"

namespace teller::capture {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kMaxReasonBytes = 1000;

// Path of the control socket in a manifest; "" if it has none that could be one.
std::string control_path(const Json& manifest) {
  const Json trace = manifest.value("trace", Json());
  const Json path = trace.is_object() ? trace.value("control", Json()) : Json();
  if (!path.is_string()) return "";
  const std::string text = path.get<std::string>();
  return text.starts_with('/') && text.ends_with("/control") ? text : "";
}

std::string recorder_of(const Json& manifest) {
  const Json trace = manifest.value("trace", Json());
  const Json pid = trace.is_object() ? trace.value("recorder", Json()) : Json();
  return pid.is_number_integer() ? std::to_string(pid.get<std::int64_t>()) : "?";
}

// Why a run without a control socket has no window that could be written.
Error no_window(const std::string& run, const Json& manifest) {
  const auto error = [&](const std::string& what, const std::string& hint) {
    return Error{ErrorCode::kUsage, "triggering " + run + ": " + what, hint};
  };
  const Json trace = manifest.value("trace", Json());
  if (!trace.is_object() || !trace.contains("last_s")) {
    return error("it was not recorded with --last",
                 "a run without --last holds everything; nothing needs to be triggered");
  }
  if (manifest.contains("trigger")) {
    return error("it is a window that a trigger wrote", "trigger the run that it lies in");
  }
  if (manifest.contains("window")) {
    return error("its recording has ended",
                 "the run holds what was kept last, its triggers/ what was triggered before");
  }
  if (manifest.value("state", Json()) == Json("recording")) {
    return error("its recorder keeps no window at the moment",
                 "it has only just begun, or could not go on: try again, then see manifest.json");
  }
  return error("its recording has ended, and its last window could not be written",
               "its triggers/ hold what was triggered before");
}

}  // namespace

Result<std::string> trigger_window(const std::string& run, const std::string& reason,
                                   double timeout_s) {
  TELLER_TRY(const RunFolder folder, RunFolder::open(run));
  const std::string path = control_path(folder.manifest());
  if (path.empty()) return no_window(run, folder.manifest());
  TELLER_TRY(const Redactor redactor, Redactor::create({}));
  RedactCounts counts;
  const Json request = {{"trigger", redactor.text(reason.substr(0, kMaxReasonBytes), counts)}};
  auto answered =
      ask_recorder(path, request.dump(-1, ' ', false, Json::error_handler_t::replace), timeout_s);
  if (!answered) {
    Error error = answered.error();
    error.message = "triggering " + run + ": " + error.message;
    error.hint = "has its recorder (pid " + recorder_of(folder.manifest()) +
                 ") ended, or is it in another container? There, send it SIGUSR2";
    return error;
  }
  const Json answer = Json::parse(*answered, nullptr, false);
  if (answer.is_object() && answer.contains("run") && answer["run"].is_string()) {
    return answer["run"].get<std::string>();
  }
  const Json why = answer.is_object() ? answer.value("error", Json()) : Json();
  return Error{
      ErrorCode::kIo,
      "triggering " + run + ": " +
          (why.is_string() ? why.get<std::string>() : "the recorder's answer makes no sense"),
      ""};
}

}  // namespace teller::capture
