#include "run_folder/diagnosis_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"

namespace teller {

Status publish_diagnosis(RunFolder& run, const nlohmann::ordered_json& diagnosis,
                         std::vector<std::string> from, const std::string& options_json) {
  using Json = nlohmann::ordered_json;
  const std::string text = diagnosis.dump(1, ' ', true, Json::error_handler_t::replace) + "\n";
  TELLER_CHECK_OK(write_file_atomic(run.file(kDiagnosisFile), text));
  ArtifactInfo info;
  info.name = "diagnosis";
  info.files = {kDiagnosisFile};
  info.made_by = "diagnose";
  info.records = 1;
  info.from = std::move(from);
  info.options_json = options_json;
  TELLER_CHECK_OK(run.publish(info));
  return run.save();
}

}  // namespace teller
