#include "base/part_files.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace teller {

namespace {

// What a signal handler may read: no memory is taken or given back.
struct Slot {
  std::atomic<bool> is_set{false};
  char path[PATH_MAX] = {};
};

std::array<Slot, 64> g_slots;
std::atomic<std::size_t> g_next{0};

// A file that has got its name is not there under this one any more.
void remove_and_end(int number) {
  for (const Slot& slot : g_slots) {
    if (slot.is_set.load()) unlink(slot.path);
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(number, &action, nullptr);
  raise(number);
}

}  // namespace

void note_part_file(const std::string& path) {
  if (path.size() >= PATH_MAX) return;
  Slot& slot = g_slots[g_next.fetch_add(1) % g_slots.size()];
  slot.is_set.store(false);
  std::memcpy(slot.path, path.c_str(), path.size() + 1);
  slot.is_set.store(true);
}

void remove_part_files_at_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = remove_and_end;
    sigaction(number, &action, nullptr);
  }
}

}  // namespace teller
