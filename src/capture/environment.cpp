#include "capture/environment.h"

#include <algorithm>
#include <string_view>

#include "redact/redact.h"

namespace teller::capture {

namespace {

std::string_view name_of(std::string_view variable) {
  return variable.substr(0, variable.find('='));
}

std::string value_of(const std::vector<std::string>& variables, std::string_view name) {
  for (const std::string& variable : variables) {
    if (name_of(variable) == name && variable.size() > name.size()) {
      return variable.substr(name.size() + 1);
    }
  }
  return "";
}

void set(std::vector<std::string>& variables, std::string_view name, const std::string& value) {
  std::erase_if(variables, [&](const std::string& v) { return name_of(v) == name; });
  variables.push_back(std::string(name) + "=" + value);
}

void prepend(std::vector<std::string>& variables, std::string_view name, const std::string& item) {
  const std::string old = value_of(variables, name);
  set(variables, name, old.empty() ? item : item + ":" + old);
}

void set_injection(Environment& environment, std::string_view name, const std::string& library) {
  const std::string old = value_of(environment.variables, name);
  if (old.empty() || old == library) {
    set(environment.variables, name, library);
    return;
  }
  environment.notes.push_back(std::string(name) + " is set already (" + old +
                              "): that tool keeps it, and teller does not see what goes there");
}

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ":") + item;
  return text;
}

bool is_of_interest(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {
      "CUDA_",   "NCCL_",  "GLOO_",      "VLLM_",   "SGLANG_",       "TORCH",
      "PYTORCH", "OMP_",   "MKL_",       "TRITON_", "NVTX_",         "PYTHON",
      "RANK",    "WORLD_", "LOCAL_RANK", "MASTER_", "HF_HUB_OFFLINE"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

Environment child_environment(const std::vector<std::string>& base,
                              const EnvironmentRequest& request) {
  Environment environment{base, {}};
  auto& variables = environment.variables;
  set(variables, "TELLER_SOCKET", request.socket);
  if (!request.library.empty()) {
    set(variables, "TELLER_LIBRARY", request.library);
    set_injection(environment, "NVTX_INJECTION64_PATH", request.library);
    if (request.cuda != "off") {
      set_injection(environment, "CUDA_INJECTION64_PATH", request.library);
      set(variables, "TELLER_CUDA", request.cuda);
      set(variables, "TELLER_CUDA_GRAPH", request.cuda_graph);
    }
    if (request.preload) {
      set(variables, "TELLER_PRELOAD", "1");
      prepend(variables, "LD_PRELOAD", request.library);
    }
  }
  if (!request.python_hooks.empty() && !request.library.empty()) {
    set(variables, "TELLER_PYTHON_HOOKS", request.python_hooks);
    prepend(variables, "PYTHONPATH", request.python_hooks);
    if (!request.level.empty()) set(variables, "TELLER_LEVEL", request.level);
    if (!request.hook_files.empty()) set(variables, "TELLER_HOOKS", joined(request.hook_files));
  }
  return environment;
}

std::vector<std::string> recorded_variables(const std::vector<std::string>& base) {
  std::vector<std::string> kept;
  for (const std::string& variable : base) {
    const std::string_view name = name_of(variable);
    if (is_of_interest(name) && !is_secret_name(name)) kept.push_back(variable);
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

}  // namespace teller::capture
