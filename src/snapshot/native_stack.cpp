#include "snapshot/native_stack.h"

#include <dwarf.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/command.h"
#include "base/json.h"
#include "snapshot/dwfl_session.h"

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
  return read_remote(static_cast<Target*>(argument)->pid, address, word, sizeof *word);
}

bool set_registers(Dwfl_Thread* thread, void* argument) {
  const auto* place = static_cast<const Place*>(argument);
  const Dwarf_Word stack = place->stack_pointer;
  if (!dwfl_thread_state_registers(thread, kStackRegister, 1, &stack)) return false;
  dwfl_thread_state_register_pc(thread, place->program_counter);
  return true;
}

struct Walk {
  Dwfl* dwfl = nullptr;
  Json frames = Json::array();
  // Names by address: threads of one pool stand in the same functions, and libdw looks through all
  // of a library's symbols each time.
  std::map<Dwarf_Addr, Json> names;
};

Json describe(Dwfl* dwfl, Dwarf_Addr address) {
  Dwfl_Module* module = dwfl_addrmodule(dwfl, address);
  if (module == nullptr) return {"", ""};
  const char* symbol = dwfl_module_addrname(module, address);
  const char* file =
      dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return {std::string(symbol == nullptr ? "" : symbol).substr(0, kLongestSymbol),
          file == nullptr ? "" : std::filesystem::path(file).filename().string()};
}

int add_frame(Dwfl_Frame* frame, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  Dwarf_Addr pc = 0;
  bool activation = false;
  if (!dwfl_frame_pc(frame, &pc, &activation)) return DWARF_CB_ABORT;
  const Dwarf_Addr inside = activation ? pc : pc - 1;
  const auto [name, fresh] = walk->names.try_emplace(inside);
  if (fresh) name->second = describe(walk->dwfl, inside);
  walk->frames.push_back(name->second);
  return walk->frames.size() < kMostFrames ? DWARF_CB_OK : DWARF_CB_ABORT;
}

// A JSON text: why libdw gave up.
std::string failure(const char* what) {
  const char* why = dwfl_errmsg(-1);
  return Json(std::string(what) + ": " + (why == nullptr ? "?" : why)).dump();
}

// In the child: {"<tid>": [[symbol, library], …]}.
std::string unwind_all(Target target) {
  const DwflSession dwfl = open_modules(target.pid);
  if (!dwfl) return failure("reading the modules");
  const Dwfl_Thread_Callbacks threads{next_thread,   get_thread, read_memory,
                                      set_registers, nullptr,    nullptr};
  // Without an ELF file of its own libdw takes the architecture from the modules.
  if (!dwfl_attach_state(dwfl.get(), nullptr, target.pid, &threads, &target))
    return failure("attaching");
  Json all = Json::object();
  Walk walk{dwfl.get(), Json::array(), {}};
  for (const Place& place : target.places) {
    walk.frames = Json::array();
    dwfl_getthread_frames(dwfl.get(), static_cast<pid_t>(place.tid), add_frame, &walk);
    all[std::to_string(place.tid)] = walk.frames;
  }
  return all.dump(-1, ' ', true, Json::error_handler_t::replace);
}

// The sample before the last, if the thread has not run since.
const ThreadSample* unmoved(const Thread& thread) {
  if (thread.samples.size() < 2) return nullptr;
  const ThreadSample& last = thread.samples.back();
  const ThreadSample& former = thread.samples[thread.samples.size() - 2];
  const bool same = last.stack_pointer == former.stack_pointer &&
                    last.program_counter == former.program_counter &&
                    last.cpu_ns == former.cpu_ns && last.switches == former.switches;
  return same && !former.native.empty() ? &former : nullptr;
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
    if (const ThreadSample* former = unmoved(thread)) {
      stacks[tid] = former->native;
      continue;
    }
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
