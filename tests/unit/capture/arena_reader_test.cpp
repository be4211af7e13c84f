// The recorder against a process that writes nonsense into the shared memory.
#include "capture/arena_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <random>

namespace teller::capture {
namespace {

using ring::ArenaHeader;
using ring::RecordHeader;
using ring::RingHeader;

constexpr std::uint64_t kDefinitions = 4096;
constexpr std::uint32_t kData = 4096;
constexpr std::uint32_t kRings = 2;
constexpr std::uint32_t kStride = ring::kRingHeaderBytes + kData;
constexpr std::uint64_t kBytes =
    ring::kArenaHeaderBytes + kDefinitions + std::uint64_t{kRings} * kStride;

struct Counting : ArenaSink {
  void on_definition(ring::DefinitionKind, std::uint32_t, std::uint64_t,
                     std::string_view text) override {
    definition_bytes += text.size();
  }
  void on_record(std::uint32_t ring, const RecordHeader&, std::string_view payload) override {
    EXPECT_LT(ring, kRings);
    ++records;
    for (const char c : payload) sum += static_cast<unsigned char>(c);  // touches every byte
  }
  void on_open_call(std::uint32_t, const ring::OpenCall& call) override {
    EXPECT_LT(std::strlen(call.name), ring::kCallNameBytes);
  }
  std::uint64_t records = 0;
  std::uint64_t definition_bytes = 0;
  std::uint64_t sum = 0;
};

class Arena {
 public:
  explicit Arena(bool sealed = true) {
    fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(fd, kBytes), 0);
    if (sealed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0) ADD_FAILURE() << "not sealed";
    memory = static_cast<char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    header = reinterpret_cast<ArenaHeader*>(memory);
    header->magic = ring::kArenaMagic;
    header->version = ring::kArenaVersion;
    header->ring_count = kRings;
    header->arena_bytes = kBytes;
    header->definition_offset = ring::kArenaHeaderBytes;
    header->definition_bytes = kDefinitions;
    header->ring_offset = ring::kArenaHeaderBytes + kDefinitions;
    header->ring_stride = kStride;
    header->ring_data_bytes = kData;
  }
  ~Arena() {
    munmap(memory, kBytes);
    close(fd);
  }
  RingHeader* ring(std::uint32_t index) {
    return reinterpret_cast<RingHeader*>(memory + header->ring_offset + index * kStride);
  }
  char* data(std::uint32_t index) {
    return reinterpret_cast<char*>(ring(index)) + ring::kRingHeaderBytes;
  }

  int fd = -1;
  char* memory = nullptr;
  ArenaHeader* header = nullptr;
};

TEST(ArenaReader, RefusesALayoutThatLeavesTheMemory) {
  Arena unsealed(false);
  EXPECT_FALSE(ArenaReader::map(unsealed.fd).ok());
  const auto refused = [](auto change) {
    Arena arena;
    change(*arena.header);
    return !ArenaReader::map(arena.fd).ok();
  };
  EXPECT_FALSE(refused([](ArenaHeader&) {}));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.ring_count = 3; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.ring_count = 0xffffffff; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.ring_data_bytes = 4095; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.ring_data_bytes = 1u << 31; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.ring_offset = ~std::uint64_t{63}; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.definition_bytes = ~std::uint64_t{0}; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.magic = 1; }));
  EXPECT_TRUE(refused([](ArenaHeader& h) { h.version = 99; }));
}

TEST(ArenaReader, ReadsRecordsAcrossTheEndOfTheRing) {
  Arena arena;
  auto reader = ArenaReader::map(arena.fd);
  ASSERT_TRUE(reader.ok());
  arena.header->rings_used = 1;
  arena.header->ring_state[0] = 1;
  Counting sink;
  std::uint64_t head = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t position = head & (kData - 1);
    const RecordHeader record{24, 2, 0, 1};
    const std::uint64_t to_end = kData - position;
    if (to_end < 24) {
      const RecordHeader pad{static_cast<std::uint32_t>(to_end), 0, 0, 0};
      std::memcpy(arena.data(0) + position, &pad, 8);
      head += to_end;
    }
    std::memcpy(arena.data(0) + (head & (kData - 1)), &record, sizeof record);
    head += 24;
    arena.ring(0)->head = head;
    if (i % 50 == 49) reader->drain(sink);
  }
  reader->drain(sink);
  EXPECT_EQ(sink.records, 1000u);
  EXPECT_EQ(reader->losses().corrupt, 0u);
}

TEST(ArenaReader, AClosedRingIsDrainedThenFree) {
  Arena arena;
  auto reader = ArenaReader::map(arena.fd);
  arena.header->rings_used = 1;
  const RecordHeader record{16, 2, 0, 1};
  std::memcpy(arena.data(0), &record, sizeof record);
  arena.ring(0)->head = 16;
  arena.header->ring_state[0] = static_cast<std::uint32_t>(ring::RingState::kClosed);
  Counting sink;
  reader->drain(sink);
  EXPECT_EQ(sink.records, 1u);
  EXPECT_EQ(arena.header->ring_state[0].load(), 0u);
}

// Takes what it is told of launches, all fields of which its writer changes together.
struct Launches : Counting {
  void on_launch(const ring::Launch& launch) override {
    if (launch.correlation != latest) ++different;
    latest = launch.correlation;
    const bool whole = launch.begin_ns == launch.correlation &&
                       launch.context == launch.correlation && launch.nested == launch.correlation;
    if (!whole) ++torn;
  }
  std::uint32_t latest = 0;
  int different = 0;
  int torn = 0;
};

// As a thread of the traced process does, for ever.
[[noreturn]] void keep_launching(ring::Launch& launch) {
  for (std::uint32_t id = 1;; ++id) {
    const std::uint32_t sequence = launch.sequence.load(std::memory_order_relaxed);
    launch.sequence.store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    launch.correlation = launch.context = launch.nested = id;
    std::memset(launch.name, 'x', sizeof launch.name - 1);
    launch.begin_ns = id;
    launch.sequence.store(sequence + 2, std::memory_order_release);
    // Between launches there is time to begin reading.
    for (int i = 0; i < 50; ++i) launch.sequence.load(std::memory_order_seq_cst);
  }
}

TEST(ArenaReader, ALaunchThatChangesWhileItIsReadIsLeftOut) {
  Arena arena;
  auto reader = ArenaReader::map(arena.fd);
  ASSERT_TRUE(reader.ok());
  arena.header->rings_used = 1;
  const pid_t writer = fork();
  if (writer == 0) keep_launching(arena.ring(0)->launches[0]);
  Launches sink;
  // Until both have run side by side for a while.
  for (int i = 0; i < 5'000'000 && sink.different < 50'000; ++i) reader->report_unfinished(sink);
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  EXPECT_GT(sink.different, 0);
  EXPECT_EQ(sink.torn, 0);
}

TEST(ArenaReader, SurvivesNonsense) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    Arena arena;
    auto reader = ArenaReader::map(arena.fd);
    ASSERT_TRUE(reader.ok());
    const std::uint64_t fixed = arena.header->definition_offset;
    for (std::uint64_t at = fixed; at + 8 <= kBytes; at += 8) {
      const std::uint64_t value = random() % 5 == 0 ? random() : random() % 64 * 8;
      std::memcpy(arena.memory + at, &value, 8);
    }
    arena.header->rings_used = static_cast<std::uint32_t>(random() % 5);
    arena.header->definitions_used = random() % 3 == 0 ? random() : random() % kDefinitions;
    for (std::uint32_t i = 0; i < kRings; ++i) {
      arena.header->ring_state[i] = static_cast<std::uint32_t>(random() % 4);
      arena.ring(i)->tail = random() % 16 * 8;
      arena.ring(i)->head = arena.ring(i)->tail + random() % 600 * 8;
    }
    Counting sink;
    reader->drain(sink);
    reader->drain(sink);
    reader->report_unfinished(sink);
  }
}

}  // namespace
}  // namespace teller::capture
