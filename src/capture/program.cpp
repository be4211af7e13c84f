#include "capture/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "capture/capture.h"

namespace teller::capture {

namespace fs = std::filesystem;

namespace {

// 0 if `path` can be executed, else an errno.
int executable_error(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return errno;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

Program failure(const std::string& name, int number) {
  const bool missing = number == ENOENT || number == ENOTDIR || number == ELOOP;
  const std::string why = missing ? "no such program" : std::strerror(number);
  return {"", missing ? kExitNotFound : kExitNotExecutable, "running " + name + ": " + why};
}

// The first of two layouts that holds both parts or one of them.
Parts parts_at(const fs::path& library, const fs::path& hooks) {
  std::error_code error;
  Parts parts;
  if (fs::exists(library, error)) parts.library = fs::canonical(library, error).string();
  if (fs::exists(hooks / "sitecustomize.py", error)) {
    parts.python_hooks = fs::canonical(hooks, error).string();
  }
  return parts;
}

Parts installed_parts(const fs::path& root) {
  return parts_at(root / "lib/teller/libteller_collector.so", root / "share/teller/python_hooks");
}

}  // namespace

Program find_program(const std::string& name, const char* path_variable) {
  if (name.find('/') != std::string::npos || name.empty()) {
    const int error = name.empty() ? ENOENT : executable_error(name);
    return error == 0 ? Program{name, 0, ""} : failure(name, error);
  }
  const std::string path = path_variable != nullptr ? path_variable : "/bin:/usr/bin";
  int worst = ENOENT;
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + name;
    const int error = executable_error(candidate);
    if (error == 0) return {candidate, 0, ""};
    if (error == EACCES) worst = EACCES;
    begin = end + 1;
  }
  return failure(name, worst);
}

Parts find_parts() {
  if (const char* root = std::getenv("TELLER_ROOT"); root != nullptr && *root != 0) {
    return installed_parts(root);
  }
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  Parts parts = installed_parts(folder / "..");
  if (!parts.library.empty() || !parts.python_hooks.empty()) return parts;
  // The build tree: src/cli/teller beside preload/ and a link to python_hooks/.
  return parts_at(folder / "../../preload/libteller_collector.so", folder / "../../python_hooks");
}

}  // namespace teller::capture
