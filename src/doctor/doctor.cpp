#include "doctor/doctor.h"

#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "doctor/checks.h"

namespace teller {

namespace {

using doctor_detail::Check;
using doctor_detail::Checks;
using doctor_detail::CheckStatus;
using Json = nlohmann::ordered_json;

const char* status_name(CheckStatus status) {
  switch (status) {
    case CheckStatus::kOk:
      return "ok";
    case CheckStatus::kWarning:
      return "warning";
    case CheckStatus::kMissing:
      break;
  }
  return "missing";
}

}  // namespace

Json examine(const DoctorOptions& options) {
  Checks checks;
  doctor_detail::check_tracing(options, checks);
  doctor_detail::check_python(options, checks);
  doctor_detail::check_gpu(checks);
  doctor_detail::check_machine(checks);
  Json document;
  document["format"] = "teller.doctor";
  document["version"] = 1;
  document["can_trace"] = true;
  document["checks"] = Json::array();
  for (const Check& check : checks) {
    if (check.required && check.status == CheckStatus::kMissing) document["can_trace"] = false;
    document["checks"].push_back({{"name", check.name},
                                  {"status", status_name(check.status)},
                                  {"required", check.required},
                                  {"detail", check.detail},
                                  {"hint", check.hint}});
  }
  return document;
}

std::string doctor_text(const Json& document) {
  std::string text;
  for (const Json& check : document["checks"]) {
    std::string status = check["status"];
    status.resize(9, ' ');
    text += status + printable(check["name"].get<std::string>()) + ": " +
            printable(check["detail"].get<std::string>()) + "\n";
    const std::string hint = check["hint"];
    if (!hint.empty()) text += "         → " + printable(hint) + "\n";
  }
  text += document["can_trace"] == true ? "Tracing works here.\n"
                                        : "Tracing cannot work here: see what is missing above.\n";
  return text;
}

}  // namespace teller
