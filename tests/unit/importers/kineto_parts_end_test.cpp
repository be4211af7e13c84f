// However those who share the work end, nobody reads the text any more, and nothing hangs.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>
#include <thread>

#include "../run_folder/temp_dir.h"
#include "importers/kineto_convert.h"
#include "importers/kineto_parts.h"

namespace {

// Threads other than this one get no memory, unless it is none.
std::atomic<std::thread::id> only{};
std::atomic<int> refused = 0;

}  // namespace

// Not inline: the compiler would see malloc() beside delete, and warn.
[[gnu::noinline]] void* operator new(std::size_t size) {
  const std::thread::id allowed = only.load();
  if (allowed != std::thread::id() && allowed != std::this_thread::get_id()) {
    ++refused;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(std::max<std::size_t>(size, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace teller {
namespace {

constexpr std::size_t kEventBytes = 1u << 20;

// Events in pages that are taken away: who reads them later ends the test.
class Text {
 public:
  explicit Text(int events) {
    std::string text;
    for (int i = 0; i < events; ++i) {
      const std::string number = std::to_string(i);
      text += R"({"ph":"X","cat":"cpu_op","name":"op)" + number + R"(","pid":1,"tid":1,"ts":)" +
              number + R"(,"dur":1,"args":{"a":[1,2]}},)";
    }
    size_ = text.size();
    mapped_ = size_ + (1u << 12);
    void* const pages =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(pages, MAP_FAILED);
    data_ = static_cast<char*>(pages);
    std::fill(std::copy(text.begin(), text.end(), data_), data_ + mapped_, ' ');
  }
  ~Text() { munmap(data_, mapped_); }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  const char* begin() const { return data_; }
  const char* end() const { return data_ + size_; }
  std::string_view view() const { return {data_, size_}; }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
};

TEST(KinetoPartsEnd, WhatAShaperThrowsArrives) {
  const Text text(20'000);
  KinetoParts parts(3, false);
  only = std::this_thread::get_id();
  refused = 0;
  parts.start(text.begin(), text.end(), kEventBytes);
  while (refused == 0) std::this_thread::yield();
  const auto take_all = [&] {
    for (const char* at = text.begin(); at < text.end();) {
      const KinetoPart& part = parts.take(at, text.end(), kEventBytes);
      if (part.got == at) break;
      at = part.got;
    }
  };
  EXPECT_THROW(take_all(), std::bad_alloc);
  only = std::thread::id();
  parts.forget();
}

TEST(KinetoPartsEnd, TextMayGoOnceItIsForgotten) {
  KinetoParts parts(4, false);
  for (int round = 0; round < 20; ++round) {
    const Text text(10'000);
    parts.start(text.begin(), text.end(), kEventBytes);
    if (round % 2 == 0) parts.take(text.begin(), text.end(), kEventBytes);
    parts.forget();
    EXPECT_TRUE(parts.through(text.begin()));
  }
}

TEST(KinetoPartsEnd, TextMayGoWithThoseWhoReadIt) {
  for (int round = 0; round < 20; ++round) {
    const Text text(10'000);
    KinetoParts parts(4, false);
    parts.start(text.begin(), text.end(), kEventBytes);
    if (round % 2 == 0) parts.take(text.begin(), text.end(), kEventBytes);
  }
}

// The disk is full while others still read: what is there of the trace goes at once.
TEST(KinetoPartsEnd, TextMayGoAfterAFailedWrite) {
  TempDir dir;
  for (int round = 0; round < 5; ++round) {
    const Text text(20'000);
    auto writer = EventFileWriter::create(dir.file(std::to_string(round)), "{}");
    ASSERT_TRUE(writer);
    signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{1 << 10, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    {
      KinetoConverter converter(*writer, nullptr, 4);
      const auto done = converter.plain_events(text.view(), kEventBytes);
      ASSERT_FALSE(done);
      EXPECT_NE(done.error().message.find("File too large"), std::string::npos);
    }
    setrlimit(RLIMIT_FSIZE, &before);
  }
}

}  // namespace
}  // namespace teller
