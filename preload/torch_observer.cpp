#include "preload/torch_observer.h"

#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "preload/hook_bridge.h"

namespace teller::collector {

namespace {

// What follows mirrors ATen/record_function.h of PyTorch 2.1 to 2.13, where it is the same:
// compared in the wheels
// of 2.1.2, 2.2.2, 2.3.1, 2.4.1, 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0, 2.11.0, 2.12.0
// and 2.13.0, with the two symbols below; run with 2.13.0 only. Other versions are refused: a
// callback of another layout would crash the program.
constexpr int kMajor = 2, kFirstMinor = 1, kLastMinor = 13;
constexpr std::size_t kScopes = 10;  // at::RecordScope::NUM_SCOPES
constexpr std::size_t kFunction = 0, kBackwardFunction = 1;

struct RecordFunction;  // at::RecordFunction: only ever a pointer here

// std::unique_ptr<at::ObserverContext>: returned through memory, since it has a destructor. Ours is
// always empty.
struct Context {
  void* pointer = nullptr;
  Context() noexcept = default;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() {}  // NOLINT(modernize-use-equals-default): makes the type non-trivial
};

using StartCallback = Context (*)(const RecordFunction&);
using EndCallback = void (*)(const RecordFunction&, void*);

struct RecordFunctionCallback {
  StartCallback start;
  EndCallback end;
  double sampling_probability = 1.0;
  bool scopes[kScopes] = {};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
};
static_assert(sizeof(RecordFunctionCallback) == 40);
static_assert(offsetof(RecordFunctionCallback, scopes) == 24);

using AddGlobalCallback = std::uint64_t (*)(RecordFunctionCallback);
using NameOf = const char* (*)(const RecordFunction*);

constexpr const char* kAddGlobalCallback = "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE";
constexpr const char* kName = "_ZNK2at14RecordFunction4nameEv";

std::atomic<bool> g_on{false};
NameOf g_name_of = nullptr;

// Operators of this thread that have begun. An operator that ends on another thread than it began
// on, or deeper than this, must not end somebody else's range.
constexpr std::uint32_t kMaxDepth = 128;
struct Open {
  const RecordFunction* functions[kMaxDepth];
  std::uint32_t depth;
};
thread_local Open t_open;

Context on_start(const RecordFunction& function) noexcept {
  Open& open = t_open;
  if (open.depth < kMaxDepth) {
    open.functions[open.depth++] = &function;
    teller_hook_push(kTellerBackEnd, g_name_of(&function));
  }
  return {};
}

void on_end(const RecordFunction& function, void*) noexcept {
  Open& open = t_open;
  std::uint32_t depth = open.depth;
  while (depth > 0 && open.functions[depth - 1] != &function) --depth;
  if (depth == 0) return;
  for (; open.depth >= depth; --open.depth) teller_hook_pop();
}

bool is_known(const char* version) noexcept {
  char* end = nullptr;
  const long major = std::strtol(version, &end, 10);
  if (*end != '.') return false;
  const long minor = std::strtol(end + 1, &end, 10);
  return *end == '.' && major == kMajor && minor >= kFirstMinor && minor <= kLastMinor;
}

}  // namespace

const char* observe_torch(const char* version) noexcept {
  if (!is_known(version)) return "off: operators are recorded for PyTorch 2.1 to 2.13";
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return "off: libtorch_cpu.so is not loaded";
  const auto add = reinterpret_cast<AddGlobalCallback>(dlsym(library, kAddGlobalCallback));
  const auto name_of = reinterpret_cast<NameOf>(dlsym(library, kName));
  if (add == nullptr || name_of == nullptr) return "off: libtorch_cpu.so lacks what is needed";
  if (g_on.exchange(true)) return "on";
  g_name_of = name_of;
  RecordFunctionCallback callback{on_start, on_end};
  callback.scopes[kFunction] = true;
  callback.scopes[kBackwardFunction] = true;
  add(callback);
  return "on";
}

}  // namespace teller::collector
