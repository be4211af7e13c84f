// Checks a run folder: every file's checksum, every file's inner structure, and what is stale.
#pragma once

#include <string>
#include <vector>

#include "teller/result.h"

namespace teller {

struct VerifyFinding {
  std::string artifact;
  std::string file;     // "" if it concerns the whole artefact
  std::string problem;  // one line
};

struct VerifyReport {
  std::size_t files = 0;
  std::size_t artifacts = 0;
  std::string state;  // of the manifest
  std::vector<VerifyFinding> problems;
};

// Checks the run at `path`. Fails only if the run itself cannot be opened.
Result<VerifyReport> verify(const std::string& path);

}  // namespace teller
