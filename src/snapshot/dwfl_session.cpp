#include "snapshot/dwfl_session.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

namespace teller::snapshot_detail {

namespace {

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

}  // namespace

DwflSession open_modules(pid_t pid) {
  static const Dwfl_Callbacks callbacks{find_elf, no_debuginfo, nullptr, nullptr};
  DwflSession dwfl(dwfl_begin(&callbacks), dwfl_end);
  if (!dwfl) return dwfl;
  dwfl_report_begin(dwfl.get());
  if (dwfl_linux_proc_report(dwfl.get(), pid) != 0 ||
      dwfl_report_end(dwfl.get(), nullptr, nullptr) != 0)
    dwfl.reset();
  return dwfl;
}

bool read_remote(pid_t pid, std::uint64_t address, void* into, std::size_t size) {
  const iovec local{into, size};
  const iovec remote{reinterpret_cast<void*>(address), size};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

}  // namespace teller::snapshot_detail
