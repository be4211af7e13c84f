#include "preload/arena.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace teller::collector {

namespace {

using ring::ArenaHeader;

ProcessPage g_boot_page;  // until the real page is mapped
std::atomic<std::uint32_t> g_next_generation{1};

// Runs in the child of fork(): for kernels without MADV_WIPEONFORK.
void forget_arena() noexcept {
  ProcessPage* page = g_page.load(std::memory_order_relaxed);
  page->generation.store(0, std::memory_order_relaxed);
  page->state.store(kUntried, std::memory_order_relaxed);
}

void map_process_page() noexcept {
  if (g_page.load(std::memory_order_acquire) != &g_boot_page) return;
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
#ifdef MADV_WIPEONFORK
  madvise(memory, 4096, MADV_WIPEONFORK);
#endif
  ProcessPage* expected = &g_boot_page;
  if (!g_page.compare_exchange_strong(expected, static_cast<ProcessPage*>(memory))) {
    munmap(memory, 4096);
    return;
  }
  pthread_atfork(nullptr, nullptr, forget_arena);
}

// The arena may not be larger than RLIMIT_FSIZE: growing a memfd beyond it raises SIGXFSZ in the
// target.
std::uint32_t affordable_rings(std::uint64_t fixed_bytes, std::uint64_t stride) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return ring::kMaxRings;
  }
  if (limit.rlim_cur < fixed_bytes + stride) return 0;
  std::uint64_t rings = (limit.rlim_cur - fixed_bytes) / stride;
  return rings < ring::kMaxRings ? static_cast<std::uint32_t>(rings) : ring::kMaxRings;
}

// A descriptor above 2, so that a program which has closed stdin, stdout or stderr does not find
// ours there.
int move_up(int fd) noexcept {
  if (fd < 0 || fd > 2) return fd;
  int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return moved;
}

ArenaHeader* map_new_arena(int* fd_out) noexcept {
  const std::uint64_t stride = ring::kRingHeaderBytes + ring::kRingDataBytes;
  const std::uint64_t fixed = ring::kArenaHeaderBytes + ring::kDefinitionBytes;
  const std::uint32_t rings = affordable_rings(fixed, stride);
  if (rings == 0) return nullptr;
  const std::uint64_t bytes = fixed + rings * stride;
  int fd = move_up(
      static_cast<int>(syscall(SYS_memfd_create, "teller", MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  if (fd < 0) return nullptr;
  void* memory = MAP_FAILED;
  // Sealed, because the recorder would die of SIGBUS if the target shrank it.
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  if (memory == MAP_FAILED) {
    close(fd);
    return nullptr;
  }
  madvise(memory, bytes, MADV_DONTDUMP);  // a core file of the target stays as large as it would be
  auto* header = static_cast<ArenaHeader*>(memory);
  header->version = ring::kArenaVersion;
  header->ring_count = rings;
  header->arena_bytes = bytes;
  header->definition_offset = ring::kArenaHeaderBytes;
  header->definition_bytes = ring::kDefinitionBytes;
  header->ring_offset = fixed;
  header->ring_stride = static_cast<std::uint32_t>(stride);
  header->ring_data_bytes = ring::kRingDataBytes;
  header->magic = ring::kArenaMagic;
  *fd_out = fd;
  return header;
}

bool send_hello(int socket_fd, int arena_fd) noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  ring::Hello hello{};
  hello.magic = ring::kArenaMagic;
  hello.version = ring::kArenaVersion;
  hello.pid = getpid();
  hello.ppid = getppid();
  hello.tid = static_cast<std::int32_t>(syscall(SYS_gettid));
  hello.monotonic_ns = static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
                       static_cast<std::uint64_t>(now.tv_nsec);
  iovec part{&hello, sizeof hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &arena_fd, sizeof arena_fd);
  return sendmsg(socket_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(sizeof hello);
}

// Hands the arena to the recorder. Non-blocking: a recorder that is stopped or gone must not hold
// the target up.
bool hand_over(int arena_fd) noexcept {
  const char* path = secure_getenv("TELLER_SOCKET");
  sockaddr_un address{};
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, path);
  int fd = move_up(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd < 0) return false;
  bool sent = connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
              send_hello(fd, arena_fd);
  close(fd);
  return sent;
}

// A forked child keeps the NVTX domains, categories and registered strings that its parent made:
// their handles are still in use, so the child's own arena needs the definitions too. An entry
// whose size another thread of the parent had not yet stored ends the copy.
void inherit_definitions(ArenaHeader* to, const ArenaHeader* from) noexcept {
  const char* base = reinterpret_cast<const char*>(from) + from->definition_offset;
  std::uint64_t end = from->definitions_used.load(std::memory_order_acquire);
  if (end > from->definition_bytes) end = from->definition_bytes;
  std::uint64_t used = 0;
  while (used + sizeof(ring::Definition) <= end) {
    const auto* entry = reinterpret_cast<const ring::Definition*>(base + used);
    const std::uint32_t size = entry->size.load(std::memory_order_acquire);
    if (size == 0 || size > end - used) break;
    used += size;
  }
  std::memcpy(reinterpret_cast<char*>(to) + to->definition_offset, base, used);
  to->definitions_used.store(used, std::memory_order_release);
}

void replace_arena(ArenaHeader* fresh) noexcept {
  ArenaHeader* old = g_arena.load(std::memory_order_relaxed);
  g_arena.store(fresh, std::memory_order_release);
  if (old != nullptr) munmap(old, old->arena_bytes);
}

bool create_arena() noexcept {
  if (secure_getenv("TELLER_SOCKET") == nullptr) return false;
  int fd = -1;
  ArenaHeader* fresh = map_new_arena(&fd);
  if (fresh == nullptr) return false;
  if (ArenaHeader* old = g_arena.load(std::memory_order_relaxed)) inherit_definitions(fresh, old);
  bool sent = hand_over(fd);
  close(fd);
  if (!sent) {
    munmap(fresh, fresh->arena_bytes);
    return false;
  }
  replace_arena(fresh);
  return true;
}

}  // namespace

std::atomic<ProcessPage*> g_page{&g_boot_page};
std::atomic<ArenaHeader*> g_arena{nullptr};

bool ensure_arena() noexcept {
  const int saved_errno = errno;
  map_process_page();
  ProcessPage* page = g_page.load(std::memory_order_acquire);
  std::uint32_t expected = kUntried;
  if (page->state.compare_exchange_strong(expected, kCreating)) {
    bool created = create_arena();
    if (created) {
      page->generation.store(g_next_generation.fetch_add(1), std::memory_order_release);
    }
    page->state.store(created ? kReady : kFailed, std::memory_order_release);
    expected = created ? kReady : kFailed;
  }
  errno = saved_errno;
  return expected == kReady;
}

bool define(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id, const char* text,
            std::uint32_t text_bytes) noexcept {
  if (!ensure_arena()) return false;
  ArenaHeader* arena = g_arena.load(std::memory_order_acquire);
  if (text_bytes > ring::kMaxTextBytes) text_bytes = ring::kMaxTextBytes;
  const auto size =
      ring::round_up_8(static_cast<std::uint32_t>(sizeof(ring::Definition)) + text_bytes);
  // Look before adding, so that a full table does not make the counter grow for ever.
  if (arena->definitions_used.load(std::memory_order_relaxed) + size > arena->definition_bytes) {
    arena->definitions_lost.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  const std::uint64_t offset = arena->definitions_used.fetch_add(size, std::memory_order_acq_rel);
  if (offset + size > arena->definition_bytes) {
    arena->definitions_lost.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  char* place = reinterpret_cast<char*>(arena) + arena->definition_offset + offset;
  auto* entry = reinterpret_cast<ring::Definition*>(place);
  entry->size.store(size, std::memory_order_release);
  entry->domain = domain;
  entry->text_bytes = text_bytes;
  entry->id = id;
  std::memcpy(place + sizeof(ring::Definition), text, text_bytes);
  entry->kind.store(static_cast<std::uint32_t>(kind), std::memory_order_release);
  return true;
}

void note(const char* key, const char* value) noexcept {
  char text[512];
  const std::size_t key_bytes = strnlen(key, 64);
  const std::size_t value_bytes = strnlen(value, sizeof text - 66);
  std::memcpy(text, key, key_bytes);
  text[key_bytes] = '=';
  std::memcpy(text + key_bytes + 1, value, value_bytes);
  define(ring::DefinitionKind::kNote, 0, 0, text,
         static_cast<std::uint32_t>(key_bytes + 1 + value_bytes));
}

}  // namespace teller::collector
