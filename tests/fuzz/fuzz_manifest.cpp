// Manifests, and run folders that they describe.
#include <nlohmann/json.hpp>

#include "fuzz_file.h"
#include "run_folder/run_clock.h"
#include "run_folder/run_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace teller;
  const std::string path = fuzz::folder().file("run");
  std::filesystem::create_directories(path);
  fuzz::put("run/manifest.json", fuzz::text_of(data, size));
  const auto run = RunFolder::open(path);
  if (!run) return 0;
  read_clock(run->manifest());
  for (const char* name : {"events", "logs", "chains", "slices", "tokens", "labels"}) {
    for (const std::string& file : run->artifact_files(name)) {
      fuzz::demand(!file.empty() && file[0] != '/', "a file outside of its run");
      for (const auto& part : std::filesystem::path(file)) {
        fuzz::demand(part != "..", "a file outside of its run");
      }
    }
    static_cast<void>(run->require_artifact(name));
  }
  return 0;
}
