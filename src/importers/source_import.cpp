#include "importers/source_import.h"

namespace teller {

Error truncated_error(const SourceRequest& request, const std::string& reason,
                      std::uint64_t whole_events) {
  return {ErrorCode::kCorrupt,
          "importing " + request.path + ": " + reason + "; " + std::to_string(whole_events) +
              " whole events could be kept",
          "--allow-truncated keeps them"};
}

Error interrupted_error(const SourceRequest& request) {
  return {ErrorCode::kInterrupted, "importing " + request.path + ": stopped on request", ""};
}

std::string meta_text(const nlohmann::ordered_json& meta) {
  return meta.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace teller
