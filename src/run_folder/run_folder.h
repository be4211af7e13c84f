// The run folder: where it is, what it holds, and the manifest that says who wrote what. Every
// stage meets the others only here. Specification: docs/run_folder.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller {

// What is written to the manifest for one artefact.
struct ArtifactInfo {
  std::string name;                // "events", "logs", "chains", "findings", …
  std::vector<std::string> files;  // relative to the run folder
  std::string made_by;             // subcommand
  std::uint64_t records = 0;
  std::vector<std::string> from;    // names of the artefacts it was made from
  std::string options_json = "{}";  // the options that shape it
};

class RunFolder {
 public:
  // Creates `path` (parents too) with a manifest in state "recording". Fails if it exists and is
  // not an empty folder, unless `overwrite` and it is a run folder.
  static Result<RunFolder> create(const std::string& path, std::string_view made_by,
                                  bool overwrite);
  // Whether create() may make a run at `path`; changes nothing.
  static Status check_place(const std::string& path, bool overwrite);
  // Opens an existing run; checks format and schema of the manifest.
  static Result<RunFolder> open(const std::string& path);
  RunFolder(RunFolder&&) noexcept;
  RunFolder& operator=(RunFolder&&) noexcept;
  ~RunFolder();

  const std::string& path() const;
  // Absolute or relative path of a file inside the run folder.
  std::string file(std::string_view relative) const;
  // The manifest as JSON; changes are written by save().
  nlohmann::ordered_json& manifest();
  const nlohmann::ordered_json& manifest() const;

  // Files of an artefact, relative; empty if the run has none of that name.
  std::vector<std::string> artifact_files(std::string_view name) const;
  // Fails where the manifest lists a file of it that may not be read, which artifact_files leaves
  // out: a link, a path that leads out of the run, an entry that names none.
  Status check_listed(std::string_view name) const;
  // Like artifact_files, but an Error where check_listed fails, and one that names the command
  // which makes it, if it is missing or stale. An artefact that the manifest lists without files is
  // there, and empty.
  Result<std::vector<std::string>> require_artifact(std::string_view name) const;

  // Records an artefact whose files are in place: sizes, digests, sources. Artefacts made from it
  // become stale.
  Status publish(const ArtifactInfo& info);
  // The same, where the writers of some files know their XXH3-128 ("" if not): those are not read
  // for it again.
  Status publish(const ArtifactInfo& info, const std::map<std::string, std::string>& digests);
  // "recording", "sealed" or "crashed".
  void set_state(std::string_view state);
  // Writes the manifest (x.part, fsync, rename): what is on disk, with what was changed here since
  // it was read or written last. Several processes may do so at a time.
  Status save();

 private:
  struct State;
  explicit RunFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace teller
