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

}  // namespace

Result<std::string> trigger_window(const std::string& run, const std::string& reason,
                                   double timeout_s) {
  TELLER_TRY(const RunFolder folder, RunFolder::open(run));
  const std::string path = control_path(folder.manifest());
  if (path.empty()) {
    return Error{ErrorCode::kUsage, "triggering " + run + ": it is not being recorded with --last",
                 "a trace without --last keeps everything; nothing needs to be triggered"};
  }
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
