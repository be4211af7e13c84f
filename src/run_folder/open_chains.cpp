#include "run_folder/open_chains.h"

namespace teller {

Result<Chains> open_chains(const RunFolder& run) {
  TELLER_TRY(const std::vector<std::string> files, run.require_artifact("chains"));
  for (const std::string& file : files) {
    if (file.ends_with(".tcol")) return Chains::open(run.file(file));
  }
  return Error{ErrorCode::kCorrupt, "reading chains of run " + run.path() + ": no .tcol file", ""};
}

}  // namespace teller
