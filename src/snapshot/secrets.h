// What must not get into a run folder: keys, tokens and passwords in arguments and log lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace teller::snapshot_detail {

// What stands in for a secret.
inline constexpr std::string_view kRedacted = "[redacted]";

// Whether a name ("--api-key", "HF_TOKEN") says that its value is secret.
bool is_secret_name(std::string_view name);
// `text` without values of secret names (NAME=VALUE, --name VALUE, "name": "value"), passwords in
// URLs and tokens of well-known form (hf_…, sk-…, ghp_…, AKIA…, "Bearer …").
std::string redact(std::string_view text);
// Arguments of a process, each redacted; one that follows a secret option is replaced whole.
std::vector<std::string> redact_arguments(const std::vector<std::string>& arguments);

}  // namespace teller::snapshot_detail
