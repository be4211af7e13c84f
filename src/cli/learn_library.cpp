#include "cli/learn_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace teller::cli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libteller_learn.so";

// Relative to the executable's folder: build tree, installation, one folder for both.
constexpr const char* kLibraryPlaces[] = {"../learn", "../lib/teller", "../lib64/teller",
                                          "../lib/x86_64-linux-gnu/teller", "."};
constexpr const char* kModelPlaces[] = {"../share/teller/models/default",
                                        "../../../../models/default"};

Error cannot_load(const std::string& why) {
  return {
      ErrorCode::kUnsupported, "loading the model library: " + why,
      "train, diagnose and eval need teller built with LibTorch (PyTorch's wheel): see README.md"};
}

}  // namespace

std::string executable_folder() {
  std::error_code error;
  const fs::path path = fs::read_symlink("/proc/self/exe", error);
  return error ? "." : path.parent_path().string();
}

Result<Learn*> load_learn() {
  // Read by OpenMP when it is loaded: waiting threads sleep. Spinning ones would stand in each
  // other's way where cores are shared.
  ::setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
  const std::string folder = executable_folder();
  for (const char* place : kLibraryPlaces) {
    const fs::path path = fs::path(folder) / place / kLibrary;
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* why = ::dlerror();
      return cannot_load(why == nullptr ? path.string() : why);
    }
    using Door = Learn* (*)();
    const auto door = reinterpret_cast<Door>(::dlsym(library, kLearnFunction));
    if (door == nullptr) return cannot_load(path.string() + " is of another version of teller");
    return door();
  }
  return cannot_load(std::string(kLibrary) + " is not there");
}

Result<std::string> find_model(const std::string& given) {
  if (!given.empty()) return given;
  if (const char* named = std::getenv("TELLER_MODEL"); named != nullptr && *named != '\0') {
    return std::string(named);
  }
  for (const char* place : kModelPlaces) {
    const fs::path path = fs::path(executable_folder()) / place;
    std::error_code error;
    if (fs::exists(path / kBundleFile, error)) return path.lexically_normal().string();
  }
  return Error{ErrorCode::kNotFound,
               "finding a model: none was given, and no default model is installed",
               "give one with --model, or train one with teller train"};
}

}  // namespace teller::cli
