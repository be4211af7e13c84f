// Reading what the program points to: never a fault, whatever size it states.
#include "preload/safe_read.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace teller::collector {
namespace {

constexpr std::size_t kPage = 4096;

// Two pages of 'a', then nothing.
class Pages {
 public:
  Pages() {
    void* memory =
        mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin = static_cast<char*>(memory);
    munmap(begin + 2 * kPage, kPage);
    std::memset(begin, 'a', 2 * kPage);
  }
  ~Pages() { munmap(begin, 2 * kPage); }
  char* end() const { return begin + 2 * kPage; }
  char* begin;
};

TEST(SafeRead, StopsWhereNothingIsMapped) {
  const Pages pages;
  char to[4 * kPage];
  errno = 42;
  EXPECT_EQ(read_within_page(to, pages.end() - 10, 10), 10u);
  EXPECT_EQ(read_within_page(to, pages.end() - 10, sizeof to), 10u);
  EXPECT_EQ(read_within_page(to, pages.begin + 100, sizeof to), 2 * kPage - 100);
  EXPECT_EQ(read_anything(to, pages.end() - 10, 4096), 10u);
  EXPECT_EQ(read_anything(to, pages.end(), 8), 0u);
  EXPECT_EQ(errno, 42) << "the program's errno is its own";
}

TEST(SafeRead, AddressesThatAreNoneAreNotFollowed) {
  char to[8];
  for (const std::uintptr_t address :
       {std::uintptr_t{0}, std::uintptr_t{8}, std::uintptr_t{65535}}) {
    const auto* pointer = reinterpret_cast<const void*>(address);
    EXPECT_EQ(read_within_page(to, pointer, sizeof to), 0u);
    EXPECT_EQ(read_anything(to, pointer, sizeof to), 0u);
  }
  EXPECT_EQ(read_anything(to, reinterpret_cast<const void*>(~std::uintptr_t{0} - 100), 8), 0u);
}

TEST(SafeRead, StringsEndAtTheirZeroAtTheCapacityOrAtTheEndOfMemory) {
  const Pages pages;
  char to[32];
  EXPECT_EQ(read_string(to, sizeof to, "short"), 5u);
  EXPECT_STREQ(to, "short");
  EXPECT_EQ(read_string(to, 4, "short"), 3u);
  EXPECT_STREQ(to, "sho");
  EXPECT_EQ(read_string(to, sizeof to, pages.end() - 3), 3u);
  EXPECT_STREQ(to, "aaa");
  // Across a page.
  std::strcpy(pages.begin + kPage - 2, "over");
  EXPECT_EQ(read_string(to, sizeof to, pages.begin + kPage - 2), 4u);
  EXPECT_STREQ(to, "over");
  EXPECT_EQ(read_string(to, sizeof to, reinterpret_cast<const char*>(8)), 0u);
  EXPECT_STREQ(to, "");
}

}  // namespace
}  // namespace teller::collector
