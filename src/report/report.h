// The stage `report`: chains and findings of a run enter, one document for people and machines
// leaves. It judges nothing: what deviates is said by `slice` alone. Content: docs/report.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct ReportOptions {
  std::optional<std::string> request;  // show this request's steps and its slowest step
  std::optional<std::int64_t> step;    // show this step (the engine's number, else the index)
  std::uint32_t max_chain_lines = 60;  // of the chain's tree
  std::uint32_t max_log_lines = 30;
};

// Builds the document, format "teller.report".
Result<nlohmann::ordered_json> build_report(const RunFolder& run, const ReportOptions& options);

struct TextStyle {
  bool color = false;
  int width = 100;  // columns
};

// The document as text. Names and log lines in it come from outside: control characters are
// escaped.
std::string report_text(const nlohmann::ordered_json& document, const TextStyle& style);

}  // namespace teller
