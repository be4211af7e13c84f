#include "verify/verify.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/json_fields.h"
#include "run_folder/chains.h"
#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"
#include "run_folder/slices.h"
#include "run_folder/tokens.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
std::string message_of(const Result<T>& result) {
  return result ? "" : result.error().message;
}

// Why the inside of a file is broken; "" if it is whole or of a kind without inner checks.
std::string inner_problem(const RunFolder& run, const std::string& artifact,
                          const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".tev") {
    const auto file = EventFile::open(path);
    if (!file) return file.error().message;
    if (!file->damage().whole) return file->damage().reason;
    if (file->damage().invalid_records > 0) return "it holds records with ids out of range";
  }
  if (extension == ".tcol") {
    const auto chains = Chains::open(artifact == "chains" ? path : run.file("chains.tcol"));
    if (!chains) return chains.error().message;
    if (artifact == "slices") return message_of(Slices::open(path, *chains));
    if (artifact == "tokens") return message_of(Tokens::open(path, *chains));
  }
  return "";
}

// What the manifest says of a file of an artefact.
Json wanted_file(const RunFolder& run, const std::string& artifact, const std::string& relative) {
  const Json artifacts = run.manifest().value("artifacts", Json::object());
  const Json entry = artifacts.value(artifact, Json::object());
  const Json files = entry.is_object() ? entry.value("files", Json::array()) : Json::array();
  for (const Json& file : files) {
    if (text_of(file, "path") == relative) return file;
  }
  return {};
}

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Compares the file at `path` with the digest that its entry in the manifest holds: `xxh128`, or
// `sha256` where an older teller wrote it. Says what is wrong; "" if nothing is.
std::string digest_problem(const Json& wanted, const std::string& path) {
  const bool older = !wanted.contains("xxh128");
  const char* const key = older ? "sha256" : "xxh128";
  if (!wanted.contains(key)) return "the manifest holds no checksum of it (xxh128)";
  const std::string expected = text_of(wanted, key);
  const std::size_t digits = older ? 64 : 32;
  if (!is_hex(expected, digits)) {
    return "its " + std::string(key) + " in the manifest is not " + std::to_string(digits) +
           " hexadecimal digits";
  }
  const auto digest = older ? sha256_file(path) : xxh128_file(path);
  if (!digest) return digest.error().message;
  return *digest == expected ? "" : "its checksum differs from the manifest's";
}

std::string file_problem(const RunFolder& run, const std::string& artifact,
                         const std::string& relative) {
  const std::string path = run.file(relative);
  const Json wanted = wanted_file(run, artifact, relative);
  const Json bytes = wanted.is_object() ? wanted.value("bytes", Json()) : Json();
  const auto size = file_size(path);
  // Without reading it: what has grown may be huge.
  if (size && bytes.is_number_unsigned() && bytes != *size) {
    return "its size differs from the manifest's";
  }
  // What a dead recorder left is in no manifest.
  if (wanted.is_object()) {
    if (std::string problem = digest_problem(wanted, path); !problem.empty()) return problem;
  }
  return inner_problem(run, artifact, path);
}

// The artefacts that teller makes, in the order of the stages, and whatever else the manifest
// names.
std::vector<std::string> artifact_names(const RunFolder& run) {
  std::vector<std::string> names = {"events",     "logs",      "processes", "context", "chains",
                                    "horizontal", "roles",     "findings",  "slices",  "tokens",
                                    "labels",     "diagnosis", "snapshot"};
  const Json artifacts = run.manifest().value("artifacts", Json::object());
  if (!artifacts.is_object()) return names;
  const std::set<std::string> known(names.begin(), names.end());
  for (const auto& [name, entry] : artifacts.items()) {
    if (!known.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace

Result<VerifyReport> verify(const std::string& path) {
  TELLER_TRY(const RunFolder run, RunFolder::open(path));
  VerifyReport report;
  report.state = text_of(run.manifest(), "state");
  for (const std::string& name : artifact_names(run)) {
    const auto files = run.artifact_files(name);
    const auto usable = run.require_artifact(name);
    if (files.empty() && !usable && usable.error().code == ErrorCode::kNotFound) continue;
    ++report.artifacts;
    if (!usable) {
      report.problems.push_back({name, "", usable.error().message});
    }
    for (const std::string& file : files) {
      ++report.files;
      const std::string problem = file_problem(run, name, file);
      if (!problem.empty()) report.problems.push_back({name, file, problem});
    }
  }
  return report;
}

}  // namespace teller
