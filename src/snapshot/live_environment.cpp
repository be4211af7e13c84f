#include "snapshot/live_environment.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/command.h"
#include "procfs/procfs.h"
#include "snapshot/dwfl_session.h"

namespace teller::snapshot_detail {

namespace {

constexpr std::size_t kMostVariables = 4096;
constexpr std::size_t kLongestValue = 1024;
constexpr std::size_t kMostBytes = 64u << 10;
constexpr std::size_t kPage = 4096;

// Nothing else of the environment leaves the process.
constexpr std::string_view kNames[] = {"RANK",
                                       "WORLD_SIZE",
                                       "LOCAL_RANK",
                                       "LOCAL_WORLD_SIZE",
                                       "MASTER_ADDR",
                                       "MASTER_PORT",
                                       "NCCL_RAS_ADDR",
                                       "TORCH_FR_DUMP_TEMP_FILE",
                                       "TORCH_NCCL_DEBUG_INFO_TEMP_FILE",
                                       "TORCH_NCCL_DEBUG_INFO_PIPE_FILE"};

// Address of libc's `environ`: in the program itself, if that refers to it directly, else in libc.
int find_environ(Dwfl_Module* module, void**, const char* path, Dwarf_Addr, void* argument) {
  const std::string_view name(path);
  const bool libc = name.substr(name.rfind('/') + 1).starts_with("libc.so") ||
                    name.substr(name.rfind('/') + 1).starts_with("libc-2");
  auto* found = static_cast<std::pair<std::size_t, std::uint64_t>*>(argument);
  const bool program = found->first++ == 0;
  if (!program && !libc) return DWARF_CB_OK;
  const int symbols = dwfl_module_getsymtab(module);
  for (int i = 0; i < symbols; ++i) {
    GElf_Sym symbol{};
    GElf_Addr address = 0;
    const char* word =
        dwfl_module_getsym_info(module, i, &symbol, &address, nullptr, nullptr, nullptr);
    if (word == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
    if (std::string_view(word) != "environ" && std::string_view(word) != "__environ") continue;
    found->second = address;
    return DWARF_CB_ABORT;
  }
  return DWARF_CB_OK;
}

// A text that ends with a zero byte; what is longer than a name and a value is cut.
std::string read_text(pid_t pid, std::uint64_t address) {
  std::string text;
  char buffer[kPage];
  while (text.size() < kLongestValue) {
    const std::size_t size = kPage - address % kPage;  // the next page may not be there
    if (!read_remote(pid, address, buffer, size)) break;
    const std::size_t end = std::string_view(buffer, size).find('\0');
    text.append(buffer, std::min(end, size));
    if (end != std::string_view::npos) break;
    address += size;
  }
  return text.substr(0, kLongestValue);
}

bool is_wanted(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// In the child: NAME=VALUE, each with a zero byte.
std::string wanted_variables(pid_t pid) {
  const DwflSession dwfl = open_modules(pid);
  std::string text;
  if (!dwfl) return text;
  std::pair<std::size_t, std::uint64_t> found{0, 0};
  dwfl_getmodules(dwfl.get(), find_environ, &found, 0);
  std::uint64_t list = 0;
  if (found.second == 0 || !read_remote(pid, found.second, &list, sizeof list)) return text;
  for (std::size_t i = 0; i < kMostVariables; ++i) {
    std::uint64_t at = 0;
    if (!read_remote(pid, list + 8 * i, &at, sizeof at) || at == 0) break;
    const std::string variable = read_text(pid, at);
    if (is_wanted(variable)) text += variable + '\0';
  }
  return text;
}

}  // namespace

void add_live_environment(Process& process, int timeout_ms) {
  const auto pid = static_cast<pid_t>(process.pid);
  const auto output = run_isolated([pid] { return wanted_variables(pid); }, timeout_ms, kMostBytes);
  if (!output || output->exit_code != 0) return;
  for (const std::string& variable : split_at_nul(output->out)) {
    const std::string name = variable.substr(0, variable.find('='));
    if (!is_wanted(variable) || !variable_in(process.environment, name).empty()) continue;
    if (!process.environment.empty() && process.environment.back() != '\0')
      process.environment += '\0';
    process.environment += variable + '\0';
  }
}

}  // namespace teller::snapshot_detail
