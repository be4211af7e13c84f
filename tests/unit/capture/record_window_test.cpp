// What is kept, what is forgotten, and that what was open before is still known.
#include "capture/record_window.h"

#include <gtest/gtest.h>

#include <cstring>

namespace teller::capture {
namespace {

using ring::RecordHeader;
using ring::RecordType;

constexpr std::int64_t kSecond = 1000000000;

std::string text_payload(std::uint32_t domain, std::uint32_t category, const std::string& text,
                         std::uint64_t id = 0) {
  const ring::TextRecord fixed{domain, category, static_cast<std::uint32_t>(text.size()), 0};
  std::string payload(reinterpret_cast<const char*>(&fixed), sizeof fixed);
  if (id != 0) payload.append(reinterpret_cast<const char*>(&id), sizeof id);
  return payload + text;
}

// Says what it is told, as "push a", "pop", "thread 7", ….
struct Told : ArenaSink {
  void on_definition(ring::DefinitionKind, std::uint32_t, std::uint64_t,
                     std::string_view text) override {
    lines.push_back("define " + std::string(text));
  }
  void on_record(std::uint32_t ring, const RecordHeader& header,
                 std::string_view payload) override {
    const auto type = static_cast<RecordType>(header.type);
    std::string line = std::to_string(ring);
    if (type == RecordType::kThread) {
      ring::ThreadRecord thread{};
      std::memcpy(&thread, payload.data(), sizeof thread);
      lines.push_back(line + " thread " + std::to_string(thread.tid));
      return;
    }
    std::size_t skip = sizeof(ring::TextRecord);
    if ((header.flags & ring::kHasId) != 0) skip += 8;
    constexpr const char* kNames[] = {"pad", "thread", "push", "pop", "mark", "start", "end"};
    line += std::string(" ") + kNames[header.type];
    if (payload.size() > skip) line += " " + std::string(payload.substr(skip));
    lines.push_back(line + " @" + std::to_string(header.time_ns));
  }
  void on_open_call(std::uint32_t ring, const ring::OpenCall& call) override {
    lines.push_back(std::to_string(ring) + " open " + call.name);
  }
  std::vector<std::string> lines;
};

struct Window : RecordWindow {
  void thread(std::uint32_t ring, std::uint64_t tid) {
    const ring::ThreadRecord fixed{tid, 0, 0};
    add(ring, RecordType::kThread, 0, {reinterpret_cast<const char*>(&fixed), sizeof fixed});
  }
  void add(std::uint32_t ring, RecordType type, std::uint16_t flags, std::string_view payload) {
    ++time;
    on_record(ring, RecordHeader{0, static_cast<std::uint16_t>(type), flags, time}, payload);
  }
  void push(const std::string& text, std::uint32_t domain = 0, std::uint32_t ring = 0) {
    add(ring, RecordType::kPush, 0, text_payload(domain, 0, text));
  }
  void pop(std::uint32_t domain = 0, std::uint32_t ring = 0) {
    add(ring, RecordType::kPop, 0, text_payload(domain, 0, ""));
  }
  void device(ring::DeviceKind kind, std::uint32_t correlation) {
    ring::DeviceRecord fixed{};
    fixed.kind = static_cast<std::uint32_t>(kind);
    fixed.correlation = correlation;
    add(0, RecordType::kDevice, 0, {reinterpret_cast<const char*>(&fixed), sizeof fixed});
  }
  std::vector<std::string> told() const {
    Told sink;
    replay(sink);
    return sink.lines;
  }
  std::uint64_t time = 0;
};

using Lines = std::vector<std::string>;

TEST(RecordWindow, OpenRangesOfForgottenRecordsAreSaidAgainWithTheirTimes) {
  Window window;
  window.set_time(1 * kSecond);
  window.thread(0, 70);
  window.push("outer");
  window.push("done");
  window.pop();
  window.push("other domain", 5);
  window.set_time(10 * kSecond);
  window.push("kept");
  window.forget_before(9 * kSecond);
  EXPECT_EQ(window.told(),
            (Lines{"0 thread 70", "0 push outer @2", "0 push other domain @5", "0 push kept @6"}));
  EXPECT_EQ(window.records_forgotten(), 5u);
  EXPECT_EQ(window.records_seen(), 6u);
  EXPECT_EQ(window.oldest_ns(), 10 * kSecond);
}

TEST(RecordWindow, APopOfAnEarlierPushEndsIt) {
  Window window;
  window.set_time(0);
  window.push("a");
  window.push("b");
  window.set_time(2 * kSecond);
  window.pop();
  window.forget_before(1 * kSecond);
  EXPECT_EQ(window.told(), (Lines{"0 push a @1", "0 push b @2", "0 pop @3"}));
  window.forget_before(3 * kSecond);
  EXPECT_EQ(window.told(), (Lines{"0 push a @1"}));
  EXPECT_EQ(window.oldest_ns(), RecordWindow::kNever);
}

TEST(RecordWindow, AnotherThreadOnTheRingInheritsNothing) {
  Window window;
  window.set_time(0);
  window.thread(3, 1);
  window.push("of thread 1", 0, 3);
  window.thread(3, 2);
  window.set_time(2 * kSecond);
  window.forget_before(1 * kSecond);
  EXPECT_EQ(window.told(), (Lines{"3 thread 2"}));
}

TEST(RecordWindow, StartedRangesLastUntilTheirEnd) {
  Window window;
  window.set_time(0);
  window.add(0, RecordType::kStart, ring::kHasId, text_payload(0, 0, "x", 11));
  window.add(0, RecordType::kStart, ring::kHasId, text_payload(0, 0, "y", 12));
  window.add(1, RecordType::kEnd, ring::kHasId, text_payload(0, 0, "", 11));
  window.set_time(2 * kSecond);
  window.forget_before(1 * kSecond);
  EXPECT_EQ(window.told(), (Lines{"0 start y @2"}));
}

TEST(RecordWindow, DefinitionsAndTheNewestHookCountsAreNeverForgotten) {
  Window window;
  window.set_time(0);
  window.on_definition(ring::DefinitionKind::kDomain, 0, 4, "teller");
  window.on_definition(ring::DefinitionKind::kCategory, 4, 5, "META");
  window.add(0, RecordType::kMark, 0, text_payload(4, 5, "{\"targets\":1}"));
  window.add(0, RecordType::kMark, 0, text_payload(4, 5, "{\"targets\":2}"));
  window.add(0, RecordType::kMark, 0, text_payload(0, 5, "not ours"));
  window.set_time(2 * kSecond);
  window.forget_before(1 * kSecond);
  EXPECT_EQ(window.told(), (Lines{"define teller", "define META", "0 mark {\"targets\":2} @2"}));
}

TEST(RecordWindow, BytesReturnToWhatIsKept) {
  Window window;
  window.set_time(0);
  EXPECT_EQ(window.bytes(), 0u);
  for (int i = 0; i < 20000; ++i) {
    window.push("some text of a range");
    window.pop();
  }
  EXPECT_GT(window.bytes(), 1u << 20);
  while (window.forget_oldest()) {
  }
  EXPECT_EQ(window.bytes(), 0u);
  EXPECT_EQ(window.records_forgotten(), 40000u);
}

TEST(RecordWindow, RangesThatNeverEndDoNotPileUp) {
  Window window;
  window.set_time(0);
  for (int i = 0; i < 100000; ++i) window.push("never ends");
  while (window.forget_oldest()) {
  }
  EXPECT_LT(window.fixed_bytes(), 1u << 20);
  EXPECT_EQ(window.told().size(), 4096u);
}

TEST(RecordWindow, OfTooManyStartedRangesTheFirstToComeGoes) {
  Window window;
  window.set_time(0);
  // Ids say which ring they come from: the newest of ring 0 are below all of ring 1.
  for (std::uint64_t i = 0; i < 65536; ++i) {
    window.add(1, RecordType::kStart, ring::kHasId, text_payload(0, 0, "old", (2ull << 40) | i));
  }
  window.add(0, RecordType::kStart, ring::kHasId, text_payload(0, 0, "newest", 1ull << 40));
  while (window.forget_oldest()) {
  }
  const Lines lines = window.told();
  ASSERT_EQ(lines.size(), 65536u);
  EXPECT_EQ(lines.back(), "0 start newest @65537");
}

// Else every launch that a thread keeps in view would seem to hang.
TEST(RecordWindow, LaunchesWhoseActivitiesAreForgottenAreKnownToHaveEnded) {
  struct Done : Told {
    void on_done(const DoneIds& ids) override { done = ids; }
    DoneIds done;
  };
  Window window;
  window.set_time(0);
  window.device(ring::DeviceKind::kKernel, 11);
  window.device(ring::DeviceKind::kGraph, 13);
  window.device(ring::DeviceKind::kOverhead, 15);  // no launch's
  window.set_time(2 * kSecond);
  window.push("kept");
  window.forget_before(1 * kSecond);
  Done sink;
  window.replay(sink);
  EXPECT_EQ(sink.lines, (Lines{"0 push kept @4"}));
  for (const std::uint64_t id : {11, 13}) EXPECT_TRUE(sink.done.contains(id)) << id;
  for (const std::uint64_t id : {12, 15}) EXPECT_FALSE(sink.done.contains(id)) << id;
}

TEST(RecordWindow, OpenCallsComeLast) {
  Window window;
  window.set_time(0);
  window.push("a");
  ring::OpenCall call{};
  std::strcpy(call.name, "cudaStreamSynchronize");
  window.on_open_call(2, call);
  EXPECT_EQ(window.told(), (Lines{"0 push a @1", "2 open cudaStreamSynchronize"}));
}

}  // namespace
}  // namespace teller::capture
