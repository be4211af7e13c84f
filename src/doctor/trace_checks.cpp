// Whether a program can be recorded here, and its Python reached.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/command.h"
#include "doctor/checks.h"
#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"
#include "teller/ring.h"

namespace teller::doctor_detail {

namespace {

namespace fs = std::filesystem;

constexpr int kTimeoutMs = 20000;
constexpr std::size_t kMostBytes = 1u << 16;
// What a traced process maps and grows (docs/trace.md): with all rings, and with one.
constexpr std::uint64_t arena_bytes(std::uint64_t rings) {
  return ring::kArenaHeaderBytes + ring::kDefinitionBytes +
         rings * (ring::kRingHeaderBytes + ring::kRingDataBytes);
}
constexpr std::uint64_t kArenaBytes = arena_bytes(ring::kMaxRings);
constexpr std::uint64_t kSmallestArenaBytes = 33u << 20;
static_assert(arena_bytes(1) <= kSmallestArenaBytes);
constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kGiB = 1u << 30;

std::string megabytes(std::uint64_t bytes) {
  return std::to_string(bytes / kMiB) + " MiB";
}

// Events of all files of a run.
std::uint64_t count_events(const std::string& path) {
  const auto run = RunFolder::open(path);
  if (!run) return 0;
  std::uint64_t count = 0;
  for (const std::string& file : run->artifact_files("events")) {
    const auto events = EventFile::open(run->file(file));
    if (events) count += events->event_count();
  }
  return count;
}

// A new folder in the first place that lets us make one; "" if none does.
std::string make_folder() {
  std::error_code error;
  const fs::path chosen = fs::temp_directory_path(error);
  for (const fs::path& place :
       {error ? fs::path() : chosen, fs::path("/tmp"), fs::path("/dev/shm"), fs::path(".")}) {
    if (place.empty()) continue;
    std::string folder = (place / "teller-doctor-XXXXXX").string();
    if (mkdtemp(folder.data()) != nullptr) return folder;
  }
  return "";
}

// Records this very program while it plays an NVTX client.
void check_small_trace(const DoctorOptions& options, Checks& checks) {
  Check check{"small trace", CheckStatus::kMissing, "", "", true};
  std::error_code error;
  const std::string folder = make_folder();
  if (folder.empty()) {
    check.detail = "no temporary folder could be made, in TMPDIR, /tmp, /dev/shm or here";
    check.hint = "set TMPDIR to a folder that can be written";
    checks.push_back(check);
    return;
  }
  const std::string run = folder + "/run";
  const auto output = run_command({options.executable, "trace", "-q", "-o", run, "--",
                                   options.executable, "doctor", "--nvtx-client"},
                                  kTimeoutMs, kMostBytes);
  const std::uint64_t events = count_events(run);
  fs::remove_all(folder, error);
  if (events > 0) {
    check.status = CheckStatus::kOk;
    check.detail = "a program with NVTX ranges was recorded: " + std::to_string(events) + " events";
  } else {
    const std::string why = output ? first_line(output->err) : output.error().message;
    check.detail = "a program with NVTX ranges left no event" + (why.empty() ? "" : ": " + why);
    check.hint = "see the other lines; docs/trace.md says what the collector needs";
  }
  checks.push_back(check);
}

void check_collector(const DoctorOptions& options, Checks& checks) {
  if (options.library.empty()) {
    checks.push_back({"collector library", CheckStatus::kMissing,
                      "libteller_collector.so was not found beside teller",
                      "build it (cmake --build), install it, or set TELLER_ROOT", true});
    return;
  }
  checks.push_back({"collector library", CheckStatus::kOk, options.library, "", true});
  check_small_trace(options, checks);
}

void check_shared_memory(Checks& checks) {
  Check memory{"memfd_create", CheckStatus::kOk, "works", "", true};
  const int fd =
      static_cast<int>(syscall(SYS_memfd_create, "teller-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) {
    memory = {"memfd_create", CheckStatus::kMissing, std::strerror(errno),
              "the container's seccomp profile must allow it", true};
  } else {
    close(fd);
  }
  checks.push_back(memory);
  Check pidfd{"pidfd_open", CheckStatus::kOk, "works", "", false};
  const int process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (process < 0) {
    pidfd = {"pidfd_open", CheckStatus::kWarning, std::strerror(errno),
             "ends of processes are then seen with a delay (Linux 5.3, or seccomp)", false};
  } else {
    close(process);
  }
  checks.push_back(pidfd);
}

void check_limit(int resource, const char* name, std::uint64_t least, bool required,
                 const std::string& hint, Checks& checks) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  Check check{name, CheckStatus::kOk, "unlimited", "", required};
  if (limit.rlim_cur != RLIM_INFINITY) check.detail = std::to_string(limit.rlim_cur);
  if (limit.rlim_cur < least) {
    check.status = required ? CheckStatus::kMissing : CheckStatus::kWarning;
    check.hint = hint;
  }
  checks.push_back(check);
}

void check_space(const char* name, const char* path, std::uint64_t least, std::uint64_t good,
                 const char* hint, bool required, Checks& checks) {
  struct statvfs info {};
  Check check{name, CheckStatus::kOk, "", "", required};
  if (statvfs(path, &info) != 0) {
    checks.push_back({name, CheckStatus::kWarning, std::strerror(errno), hint, required});
    return;
  }
  const std::uint64_t free = info.f_bavail * info.f_frsize;
  check.detail = megabytes(free) + " free in " + path;
  if (free < good) check.status = CheckStatus::kWarning;
  if (free < least) check.status = required ? CheckStatus::kMissing : CheckStatus::kWarning;
  if (check.status != CheckStatus::kOk) check.hint = hint;
  checks.push_back(check);
}

// The hooks know best which Python is old enough: they are asked.
void check_hooks(const std::string& python, const std::string& folder, Checks& checks) {
  const auto loaded =
      run_command({python, "-c",
                   "import sys, teller_hooks as h\n"
                   "print('%d.%d %d' % (*h._OLDEST[:2], sys.version_info >= h._OLDEST))\n"},
                  kTimeoutMs, kMostBytes, {"PYTHONPATH=" + folder});
  Check check{"Python hooks", CheckStatus::kOk, folder, "", false};
  if (!loaded || loaded->exit_code != 0) {
    check.status = CheckStatus::kWarning;
    check.detail = "they cannot be imported";
    check.hint = "python -I and -S load no hooks, and no Python older than 3.7 can read them";
  } else if (const std::string answer = first_line(loaded->out); !answer.ends_with(" 1")) {
    check.status = CheckStatus::kWarning;
    check.detail = "they are off: this Python is too old";
    check.hint = "Python " + answer.substr(0, answer.find(' ')) + " or newer is needed";
  }
  checks.push_back(check);
}

}  // namespace

void check_tracing(const DoctorOptions& options, Checks& checks) {
  check_collector(options, checks);
  check_shared_memory(checks);
  check_limit(
      RLIMIT_AS, "ulimit -v (address space)", 2 * kArenaBytes, true,
      "each traced process maps " + megabytes(kArenaBytes) + ": raise it, or ulimit -v unlimited",
      checks);
  check_limit(RLIMIT_FSIZE, "ulimit -f (file size)", kSmallestArenaBytes, true,
              "below 33 MiB nothing is recorded: ulimit -f unlimited", checks);
  check_limit(RLIMIT_NOFILE, "ulimit -n (open files)", 256, false,
              "the recorder needs a few descriptors for each process: ulimit -n 4096", checks);
  check_space("disk", ".", 64 * kMiB, kGiB, "free some space, or choose another place with -o",
              true, checks);
  check_space("/dev/shm", "/dev/shm", 64 * kMiB, 64 * kMiB,
              "NCCL and PyTorch's data loaders need more: docker --shm-size=8g", false, checks);
}

void check_python(const DoctorOptions& options, Checks& checks) {
  const std::string python = find_program("python3");
  if (python.empty()) {
    checks.push_back({"Python", CheckStatus::kWarning, "python3 is not on PATH",
                      "without Python there is nothing that the hooks could wrap", false});
    return;
  }
  // Versions by metadata: nothing is imported.
  const auto versions =
      run_command({python, "-c",
                   "import sys, importlib.metadata as m\nprint('python', sys.version.split()[0])\n"
                   "for n in ('torch', 'vllm', 'sglang'):\n  try: print(n, m.version(n))\n"
                   "  except m.PackageNotFoundError: pass\n"},
                  kTimeoutMs, kMostBytes);
  std::string found;
  if (versions && versions->exit_code == 0) {
    for (const char c : versions->out) found += c == '\n' ? std::string(", ") : std::string(1, c);
    if (found.size() >= 2) found.resize(found.size() - 2);
  }
  const bool engine = found.find(',') != std::string::npos;
  checks.push_back(
      {"Python and engines", found.empty() ? CheckStatus::kWarning : CheckStatus::kOk,
       python + ": " + (found.empty() ? "it does not run" : found),
       engine ? "" : "activate the environment that has torch, vllm or sglang to see it", false});
  if (options.python_hooks.empty()) {
    checks.push_back({"Python hooks", CheckStatus::kWarning, "their folder was not found",
                      "install python_hooks beside teller, or set TELLER_ROOT", false});
    return;
  }
  check_hooks(python, options.python_hooks, checks);
}

}  // namespace teller::doctor_detail
