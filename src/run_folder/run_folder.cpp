#include "run_folder/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/version.h"

namespace teller {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kManifestLimit = 64u << 20;
constexpr int kSchemaMajor = 1;
constexpr const char* kSchema = "1.0";
constexpr const char* kFormat = "teller.run";

// Which command makes which artefact: for hints.
struct Maker {
  std::string_view artifact;
  std::string_view command;
};
constexpr Maker kMakers[] = {{"events", "teller trace -- COMMAND… or teller import FILE… -o RUN"},
                             {"logs", "teller trace -- COMMAND… or teller import --log FILE"},
                             {"chains", "teller reconstruct RUN"},
                             {"horizontal", "teller reconstruct RUN"},
                             {"findings", "teller slice RUN"},
                             {"slices", "teller slice RUN"},
                             {"tokens", "teller encode RUN --vocab FILE"},
                             {"diagnosis", "teller diagnose RUN"},
                             {"snapshot", "teller snapshot PID…"},
                             {"labels", "teller simulate, or write it (docs/labels.md)"}};

std::string maker_of(std::string_view artifact) {
  for (const Maker& maker : kMakers) {
    if (maker.artifact == artifact) return std::string(maker.command);
  }
  return "the command that makes it";
}

Error not_a_run(const std::string& path, const std::string& why) {
  return {ErrorCode::kCorrupt, "opening run " + path + ": " + why,
          "give the folder that teller trace or teller import wrote"};
}

Status check_manifest(const Json& manifest, const std::string& path) {
  if (!manifest.is_object() || manifest.value("format", Json()) != kFormat) {
    return not_a_run(path, "its manifest.json is not a teller run's");
  }
  const Json schema = manifest.value("schema", Json());
  if (!schema.is_string()) return not_a_run(path, "its manifest.json names no schema");
  const std::string text = schema.get<std::string>();
  const std::string major = text.substr(0, text.find('.'));
  if (major != std::to_string(kSchemaMajor)) {
    return Error{
        ErrorCode::kUnsupported,
        "opening run " + path + ": it has schema " + text + ", this teller reads " + kSchema,
        "use the teller that wrote it, or a newer one"};
  }
  if (!manifest.value("artifacts", Json::object()).is_object()) {
    return not_a_run(path, "\"artifacts\" in its manifest.json is not an object");
  }
  return {};
}

// A path from a manifest that stays inside the run folder, links on the way resolved.
bool is_inside(const std::string& run, const std::string& relative) {
  const fs::path path(relative);
  if (relative.empty() || path.is_absolute()) return false;
  std::error_code error;
  const fs::path folder = fs::canonical(run, error);
  if (error) return false;
  const fs::path real = fs::weakly_canonical(folder / path, error);
  if (error) return false;
  const auto [in_folder, in_real] =
      std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  return in_folder == folder.end() && in_real != real.end();
}

std::vector<std::string> files_in(const std::string& run, const std::string& folder,
                                  std::string_view extension) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run + "/" + folder, error)) {
    const std::string relative = folder + "/" + entry.path().filename().string();
    if (entry.path().extension() == extension && entry.is_regular_file(error) &&
        !entry.is_symlink(error) && is_inside(run, relative)) {
      files.push_back(relative);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

constexpr const char* kLeadsOut = " is a link or lies outside of it";

// Why what a manifest lists as an artefact may not be read as a whole; "" if it may.
std::string why_unread(const std::string& run, const Json& artifact) {
  const Json files = artifact.is_object() ? artifact.value("files", Json()) : Json();
  if (!files.is_array()) return "its manifest.json lists no files of them";
  for (const Json& file : files) {
    const Json path = file.is_object() ? file.value("path", Json()) : Json();
    if (!path.is_string()) return "its manifest.json lists a file of them without a path";
    if (!is_inside(run, path.get<std::string>())) return path.get<std::string>() + kLeadsOut;
  }
  return "";
}

// The same for what stands in no manifest, as a recorder that died leaves it.
std::string why_unread(const std::string& run, std::string_view name) {
  const bool lines = name == "logs" || name == "context";
  if (!lines && name != "events") return "";
  std::vector<std::string> places = {std::string(name) + (lines ? ".jsonl" : "")};
  std::error_code error;
  for (fs::directory_iterator at(run + "/" + places[0], error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == ".tev")
      places.push_back("events/" + at->path().filename().string());
  }
  for (const std::string& place : places) {
    if (fs::is_symlink(run + "/" + place, error)) return place + kLeadsOut;
  }
  return "";
}

Json new_manifest(std::string_view made_by) {
  Json manifest;
  manifest["format"] = kFormat;
  manifest["schema"] = kSchema;
  manifest["tool"] = {{"name", "teller"}, {"version", kVersion}};
  manifest["made_by"] = made_by;
  manifest["state"] = "recording";
  manifest["artifacts"] = Json::object();
  return manifest;
}

// Holds the folder's lock while it lives, so that two commands do not write one manifest at a time.
// Where there are no locks (some network file systems) it goes without.
class FolderLock {
 public:
  explicit FolderLock(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock() {
    if (fd_ >= 0) close(fd_);
  }

  // False if another process has held it for ten seconds: it must be stopped.
  bool take() const {
    using namespace std::chrono_literals;
    for (int tries = 0; fd_ >= 0 && flock(fd_, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) return true;
      if (tries >= 1000) return false;
      std::this_thread::sleep_for(10ms);
    }
    return true;
  }

 private:
  int fd_;
};

// Brings what differs between `before` and `after`, key by key, into `object`.
void apply_changes(const Json& before, const Json& after, Json& object) {
  for (const auto& [key, value] : after.items()) {
    const auto former = before.find(key);
    if (former == before.end() || *former != value) object[key] = value;
  }
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) object.erase(key);
  }
}

Json artifacts_of(const Json& manifest) {
  const auto found = manifest.find("artifacts");
  return found != manifest.end() && found->is_object() ? *found : Json(Json::object());
}

// What a manifest on disk becomes by the changes between `before` and `after`. Artefacts are
// changed one by one, everything else by its key at the top.
Json merged(Json on_disk, const Json& before, const Json& after,
            const std::set<std::string>& published) {
  Json artifacts = artifacts_of(on_disk);
  const Json own = artifacts_of(after);
  apply_changes(artifacts_of(before), own, artifacts);
  for (const std::string& name : published) artifacts[name] = own[name];
  apply_changes(before, after, on_disk);
  on_disk["artifacts"] = std::move(artifacts);
  return on_disk;
}

}  // namespace

struct RunFolder::State {
  std::string path;
  Json manifest;
  Json saved;                       // the manifest as it was read or written last
  std::set<std::string> published;  // artefacts, since then

  const Json* artifact(std::string_view name) const {
    const auto artifacts = manifest.find("artifacts");
    if (artifacts == manifest.end() || !artifacts->is_object()) return nullptr;
    const auto found = artifacts->find(std::string(name));
    return found == artifacts->end() || !found->is_object() ? nullptr : &*found;
  }
  // Whether the run has an artefact of no files: the events of a program that recorded none. The
  // folder of events is there from the start, and is all that a dead recorder leaves.
  bool has_empty(std::string_view name) const {
    if (const Json* found = artifact(name)) {
      const Json files = found->value("files", Json());
      return files.is_array() && files.empty();
    }
    std::error_code error;
    return name == "events" && fs::is_directory(path + "/events", error);
  }
  std::string digest(std::string_view name) const {
    const Json* found = artifact(name);
    if (found == nullptr) return "";
    const Json digest = found->value("digest", Json());
    return digest.is_string() ? digest.get<std::string>() : "";
  }
};

RunFolder::RunFolder(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFolder::RunFolder(RunFolder&&) noexcept = default;
RunFolder& RunFolder::operator=(RunFolder&&) noexcept = default;
RunFolder::~RunFolder() = default;

namespace {

// Id of the process that records the run at `path`; "" if there is none on this machine.
std::string recorder_at_work(const std::string& path) {
  const auto run = RunFolder::open(path);
  if (!run || run->manifest().value("state", Json()) != Json("recording")) return "";
  const Json trace = run->manifest().value("trace", Json());
  const Json pid = trace.is_object() ? trace.value("recorder", Json()) : Json();
  if (!pid.is_number_unsigned()) return "";
  const std::string number = std::to_string(pid.get<std::uint64_t>());
  std::ifstream file("/proc/" + number + "/comm");
  std::string name;
  std::getline(file, name);
  return name == "teller-recorder" ? number : "";
}

}  // namespace

Status RunFolder::check_place(const std::string& path, bool overwrite) {
  const std::string action = "creating run " + path;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {};
  if (error) return errno_error(action, error.value());
  if (!fs::is_directory(status)) {
    return Error{ErrorCode::kUsage, action + ": a file of that name is there",
                 "choose another place with -o"};
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return errno_error(action, error.value());
  if (empty) return {};
  if (!overwrite) {
    return Error{ErrorCode::kUsage, action + ": it is there and not empty",
                 "choose another place with -o, or --overwrite to replace it"};
  }
  if (auto old = open(path); !old && old.error().code != ErrorCode::kUnsupported) {
    return Error{ErrorCode::kUsage, action + ": it is not a teller run, so it is not replaced",
                 "choose another place with -o"};
  }
  if (const std::string recorder = recorder_at_work(path); !recorder.empty()) {
    return Error{ErrorCode::kUsage,
                 "replacing run " + path + ": process " + recorder + " is recording it",
                 "wait for its end, or choose another place with -o"};
  }
  return {};
}

Result<RunFolder> RunFolder::create(const std::string& path, std::string_view made_by,
                                    bool overwrite) {
  TELLER_CHECK_OK(check_place(path, overwrite));
  std::error_code error;
  if (fs::exists(path, error) && !fs::is_empty(path, error)) {
    fs::remove_all(path, error);
    if (error) return errno_error("replacing run " + path, error.value());
  }
  fs::create_directories(path, error);
  if (error) return errno_error("creating run " + path, error.value());
  auto state = std::make_unique<State>();
  state->path = path;
  state->manifest = new_manifest(made_by);
  RunFolder run(std::move(state));
  TELLER_CHECK_OK(run.save());
  return run;
}

Result<RunFolder> RunFolder::open(const std::string& path) {
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    return Error{ErrorCode::kNotFound, "opening run " + path + ": there is no such folder",
                 "teller trace or teller import make one"};
  }
  if (error) return errno_error("opening run " + path, error.value());
  if (!fs::is_directory(status)) {
    return not_a_run(path, "it is a file, a run is a folder");
  }
  auto text = read_file(path + "/manifest.json", "manifest", kManifestLimit);
  if (!text) {
    if (text.error().code == ErrorCode::kNotFound) {
      return not_a_run(path, "it holds no manifest.json");
    }
    return text.error();
  }
  auto state = std::make_unique<State>();
  state->path = path;
  state->manifest = parse_json(*text);
  if (state->manifest.is_discarded()) return not_a_run(path, "its manifest.json is not JSON");
  TELLER_CHECK_OK(check_manifest(state->manifest, path));
  state->saved = state->manifest;
  return RunFolder(std::move(state));
}

const std::string& RunFolder::path() const {
  return state_->path;
}
std::string RunFolder::file(std::string_view relative) const {
  return state_->path + "/" + std::string(relative);
}
Json& RunFolder::manifest() {
  return state_->manifest;
}
const Json& RunFolder::manifest() const {
  return state_->manifest;
}

std::vector<std::string> RunFolder::artifact_files(std::string_view name) const {
  std::vector<std::string> files;
  if (const Json* found = state_->artifact(name)) {
    for (const Json& file : found->value("files", Json::array())) {
      const Json path = file.is_object() ? file.value("path", Json()) : Json();
      if (path.is_string() && is_inside(state_->path, path.get<std::string>()))
        files.push_back(path);
    }
    return files;
  }
  // A run whose recorder died has no artefacts in its manifest; what it wrote is there all the
  // same.
  if (name == "events") return files_in(state_->path, "events", ".tev");
  std::error_code error;
  for (const std::string_view lines : {"logs", "context"}) {
    const std::string relative = std::string(lines) + ".jsonl";
    if (name == lines && fs::exists(file(relative), error) && is_inside(state_->path, relative)) {
      return {relative};
    }
  }
  return files;
}

Status RunFolder::check_listed(std::string_view name) const {
  const auto artifacts = state_->manifest.find("artifacts");
  const bool listed = artifacts != state_->manifest.end() && artifacts->contains(std::string(name));
  const std::string why = listed ? why_unread(state_->path, (*artifacts)[std::string(name)])
                                 : why_unread(state_->path, name);
  if (why.empty()) return {};
  return Error{ErrorCode::kCorrupt,
               "reading " + std::string(name) + " of run " + state_->path + ": " + why,
               "put the file itself there, or run " + maker_of(name) + " again"};
}

Result<std::vector<std::string>> RunFolder::require_artifact(std::string_view name) const {
  TELLER_CHECK_OK(check_listed(name));
  std::vector<std::string> files = artifact_files(name);
  const std::string what = "reading " + std::string(name) + " of run " + state_->path + ": ";
  if (files.empty() && !state_->has_empty(name)) {
    return Error{ErrorCode::kNotFound, what + "the run has none", "first run " + maker_of(name)};
  }
  for (const std::string& relative : files) {
    std::error_code error;
    if (!fs::exists(file(relative), error)) {
      return Error{ErrorCode::kNotFound, what + relative + " is missing",
                   "run " + maker_of(name) + " again"};
    }
  }
  const Json* found = state_->artifact(name);
  if (found == nullptr) return files;
  const Json from = found->value("from", Json::object());
  for (const auto& [source, digest] : from.items()) {
    if (digest != state_->digest(source)) {
      return Error{ErrorCode::kStale, what + source + " has changed since they were made",
                   "run " + maker_of(name) + " again"};
    }
  }
  return files;
}

Status RunFolder::publish(const ArtifactInfo& info) {
  return publish(info, {});
}

Status RunFolder::publish(const ArtifactInfo& info,
                          const std::map<std::string, std::string>& digests) {
  Json files = Json::array();
  for (const std::string& relative : info.files) {
    const auto known = digests.find(relative);
    std::string digest = known != digests.end() ? known->second : "";
    if (digest.empty()) {
      TELLER_TRY(digest, xxh128_file(file(relative)));
    }
    TELLER_TRY(const std::uint64_t bytes, file_size(file(relative)));
    files.push_back({{"path", relative}, {"bytes", bytes}, {"xxh128", digest}});
  }
  Json from = Json::object();
  for (const std::string& source : info.from) from[source] = state_->digest(source);
  Json options = parse_json(info.options_json);
  Json artifact;
  artifact["made_by"] = info.made_by;
  artifact["records"] = info.records;
  artifact["digest"] = xxh128_text(files.dump(-1, ' ', false, Json::error_handler_t::replace));
  artifact["files"] = std::move(files);
  artifact["options"] = options.is_object() ? options : Json::object();
  artifact["from"] = std::move(from);
  state_->manifest["artifacts"][info.name] = std::move(artifact);
  state_->published.insert(info.name);
  return {};
}

void RunFolder::set_state(std::string_view state) {
  state_->manifest["state"] = state;
}

Status RunFolder::save() {
  const std::string path = file("manifest.json");
  const FolderLock lock(state_->path);
  if (!lock.take()) {
    return Error{ErrorCode::kIo, "writing " + path + ": another command holds the run",
                 "wait until it has ended"};
  }
  Json manifest = state_->manifest;
  // Another command may have written it since. A manifest that cannot be read is replaced.
  if (const auto text = read_file(path, "manifest", kManifestLimit); text) {
    Json on_disk = Json::parse(*text, nullptr, false);
    if (check_manifest(on_disk, state_->path)) {
      manifest = merged(std::move(on_disk), state_->saved, manifest, state_->published);
    }
  }
  const std::string text = manifest.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  TELLER_CHECK_OK(write_file_atomic(path, text));
  state_->saved = manifest;
  state_->manifest = std::move(manifest);
  state_->published.clear();
  return {};
}

}  // namespace teller
