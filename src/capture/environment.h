// The environment of the traced program: a pure function, so that it can be read and tested.
#pragma once

#include <string>
#include <vector>

namespace teller::capture {

struct EnvironmentRequest {
  std::string socket;        // where processes announce themselves
  std::string library;       // "" = no native library
  std::string python_hooks;  // "" = no Python hooks
  std::vector<std::string> hook_files;
  std::string level;  // what the hooks record: engine, frontend or operators
  bool preload = false;
  std::string cuda = "full";         // "full", "kernels" or "off"
  std::string cuda_graph = "graph";  // "graph" or "node"
};

struct Environment {
  std::vector<std::string> variables;  // NAME=value, for execve
  std::vector<std::string> notes;      // what the user should know
};

// `base` as teller itself got it, with what the collector needs. What the user has set is kept:
// another tool's NVTX or CUDA injection stays, and PYTHONPATH and LD_PRELOAD are prepended to.
Environment child_environment(const std::vector<std::string>& base,
                              const EnvironmentRequest& request);

// What may be written to a manifest: variables that shape LLM serving, none that looks like a
// secret.
std::vector<std::string> recorded_variables(const std::vector<std::string>& base);

}  // namespace teller::capture
