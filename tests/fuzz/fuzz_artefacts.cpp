// JSON artefacts of a run that somebody sent: findings, diagnosis, the comparison of ranks,
// snapshots, records of context and logs. Everything that reads them gets them: report, stats,
// dump, diagnose. The first byte chooses the artefact.
#include <nlohmann/json.hpp>
#include <sstream>

#include "dump/dump.h"
#include "fuzz_file.h"
#include "horizontal/horizontal.h"
#include "report/report.h"
#include "run_folder/run_folder.h"
#include "snapshot/snapshot.h"
#include "snapshot/stacks.h"
#include "stats/stats.h"

namespace teller::fuzz {

namespace {

struct Artefact {
  const char* name;
  const char* file;
};
constexpr Artefact kArtefacts[] = {
    {"findings", "findings.json"},     {"diagnosis", "diagnosis.json"},
    {"horizontal", "horizontal.json"}, {"snapshot", "snapshot.json"},
    {"context", "context.jsonl"},      {"logs", "logs.jsonl"}};
constexpr std::size_t kArtefactCount = std::size(kArtefacts);

// The run of an older version with one artefact replaced.
std::string run_with(const Artefact& artefact, std::string_view text) {
  namespace fs = std::filesystem;
  const std::string path = folder().file("run");
  std::error_code error;
  do {  // libFuzzer's alarm may interrupt the copy
    fs::remove_all(path, error);
    fs::copy(TELLER_FUZZ_RUN, path, fs::copy_options::recursive, error);
  } while (error == std::errc::interrupted);
  demand(!error, "the run can't be copied");
  put(std::string("run/") + artefact.file, text);
  auto run = RunFolder::open(path);
  demand(run.ok(), "the run can't be opened");
  const Status published = run->publish({artefact.name, {artefact.file}, "fuzz", 0, {}, "{}"});
  demand(published.ok(), "the artefact was not published");
  return path;
}

void read_all(const std::string& path, const std::string& artefact) {
  auto run = RunFolder::open(path);
  demand(run.ok(), "a published run can't be opened");
  if (const auto report = build_report(*run, {})) report_text(*report, {});
  const auto counts = stats(*run);
  static_cast<void>(counts);
  for (const bool json : {false, true}) {
    std::ostringstream out;
    DumpOptions options;
    options.json = json;
    options.artifact = artefact;
    static_cast<void>(dump(path, options, out));
  }
  if (artefact == "horizontal") {
    static_cast<void>(with_ranks(*run, {{"verdict", "healthy"}}));
    static_cast<void>(diagnose_ranks(*run));
  }
  if (artefact != "snapshot") return;
  const auto diagnosis = diagnose_snapshot(*run);
  if (diagnosis) snapshot_diagnosis_text(*diagnosis);
}

}  // namespace

int fuzz_artefacts(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = text_of(data + 1, size - 1);
  const std::size_t choice = data[0] % (kArtefactCount + 1);
  if (choice == kArtefactCount) {  // what other programs print of stacks
    static_cast<void>(snapshot_detail::parse_pyspy(text));
    snapshot_detail::parse_gdb(text);
    return 0;
  }
  read_all(run_with(kArtefacts[choice], text), kArtefacts[choice].name);
  return 0;
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_artefacts(data, size);
}
