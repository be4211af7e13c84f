#include "snapshot/native_stack.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/command.h"
#include "base/json.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 16u << 20;
constexpr std::size_t kLongestSymbol = 4096;

#if defined(__x86_64__)
constexpr int kStackRegister = 7;
#elif defined(__aarch64__)
constexpr int kStackRegister = 31;
#endif

// A thread as libdw meets it.
struct Place {
  std::int64_t tid = 0;
  std::uint64_t stack_pointer = 0;
  std::uint64_t program_counter = 0;
};

struct Target {
  pid_t pid = 0;
  std::vector<Place> places;
  const Place* find(std::int64_t tid) const {
    for (const Place& place : places) {
      if (place.tid == tid) return &place;
    }
    return nullptr;
  }
};

pid_t next_thread(Dwfl*, void* argument, void** thread) {
  auto& places = static_cast<Target*>(argument)->places;
  auto* at = static_cast<Place*>(*thread);
  at = at == nullptr ? places.data() : at + 1;
  if (at == places.data() + places.size()) return 0;
  *thread = at;
  return static_cast<pid_t>(at->tid);
}

bool get_thread(Dwfl*, pid_t tid, void* argument, void** thread) {
  *thread = const_cast<Place*>(static_cast<Target*>(argument)->find(tid));
  return *thread != nullptr;
}

bool read_memory(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* argument) {
  const iovec local{word, sizeof *word};
  const iovec remote{reinterpret_cast<void*>(address), sizeof *word};
  return process_vm_readv(static_cast<Target*>(argument)->pid, &local, 1, &remote, 1, 0) ==
         static_cast<ssize_t>(sizeof *word);
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
  const auto* place = static_cast<const Place*>(argument);
  const Dwarf_Word stack = place->stack_pointer;
  if (!dwfl_thread_state_registers(thread, kStackRegister, 1, &stack)) return false;
  dwfl_thread_state_register_pc(thread, place->program_counter);
  return true;
}

// Regular files only, and never one that blocks when it is opened.
int find_elf(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, char** file,
             Elf** elf) {
  if (name[0] != '/') return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
  const int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
    *file = strdup(name);
    return fd;
  }
  if (fd >= 0) close(fd);
  return -1;
}

// Separate debug files are not looked for: that may ask servers on the network.
int no_debuginfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                 char**) {
  return -1;
}

struct Walk {
  Dwfl* dwfl = nullptr;
  Json frames = Json::array();
};

int add_frame(Dwfl_Frame* frame, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) return DWARF_CB_ABORT;
  const Dwarf_Addr inside = activation ? pc : pc - 1;
  Dwfl_Module* module = dwfl_addrmodule(walk->dwfl, inside);
  const char* symbol = module == nullptr ? nullptr : dwfl_module_addrname(module, inside);
  const char* file = module == nullptr ? nullptr
                                       : dwfl_module_info(module, nullptr, nullptr, nullptr,
                                                          nullptr, nullptr, nullptr, nullptr);
  walk->frames.push_back({std::string(symbol == nullptr ? "" : symbol).substr(0, kLongestSymbol),
                          file == nullptr ? "" : std::filesystem::path(file).filename().string()});
  return walk->frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// A JSON text: why libdw gave up.
std::string failure(const char* what) {
  const char* why = dwfl_errmsg(-1);
  return Json(std::string(what) + ": " + (why == nullptr ? "?" : why)).dump();
}

// In the child: {"<tid>": [[symbol, library], …]}.
std::string unwind_all(Target target) {
  const Dwfl_Callbacks callbacks{find_elf, no_debuginfo, nullptr, nullptr};
  const std::unique_ptr<Dwfl, decltype(&dwfl_end)> dwfl(dwfl_begin(&callbacks), dwfl_end);
  dwfl_report_begin(dwfl.get());
  if (dwfl_linux_proc_report(dwfl.get(), target.pid) != 0 ||
      dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0) {
    return failure("reading the modules");
  }
  const Dwfl_Thread_Callbacks threads{next_thread,   get_thread, read_memory,
                                      set_registers, nullptr,    nullptr};
  // Without an ELF file of its own libdw takes the architecture from the modules.
  if (!dwfl_attach_state(dwfl.get(), nullptr, target.pid, &threads, &target))
    return failure("attaching");
  Json all = Json::object();
  for (const Place& place : target.places) {
    Walk walk{dwfl.get(), Json::array()};
    dwfl_getthread_frames(dwfl.get(), static_cast<pid_t>(place.tid), add_frame, &walk);
    all[std::to_string(place.tid)] = std::move(walk.frames);
  }
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Stack stack_of(const Json& frames) {
  Stack stack;
  for (const Json& frame : frames) {
    if (!frame.is_array() || frame.size() != 2 || !frame[0].is_string() || !frame[1].is_string())
      continue;
    const std::string name = short_name(frame[0].get<std::string>());
    stack.push_back({false, name.empty() ? "?" : name, frame[1].get<std::string>(), 0});
  }
  return stack;
}

}  // namespace

bool has_native_stacks() {
  return true;
}

Result<std::map<std::int64_t, Stack>> native_stacks(const Process& process, int timeout_ms) {
  std::map<std::int64_t, Stack> stacks;
  Target target{static_cast<pid_t>(process.pid), {}};
  for (const auto& [tid, thread] : process.threads) {
    if (thread.samples.empty() || thread.samples.back().program_counter == 0) continue;
    const ThreadSample& sample = thread.samples.back();
    target.places.push_back({tid, sample.stack_pointer, sample.program_counter});
  }
  if (target.places.empty()) return stacks;
  TELLER_TRY(const CommandOutput output,
             run_isolated([&] { return unwind_all(target); }, timeout_ms, kMostBytes));
  if (output.timed_out) return Error{ErrorCode::kIo, "it took too long", "give more --duration"};
  const Json all = parse_json(output.out);
  if (!all.is_object()) {
    const std::string why = all.is_string() ? all.get<std::string>() : "it ended early";
    return Error{ErrorCode::kIo, "libdw: " + why, permission_hint(process.pid)};
  }
  for (const auto& [tid, frames] : all.items()) stacks[std::stoll(tid)] = stack_of(frames);
  return stacks;
}

}  // namespace teller::snapshot_detail
