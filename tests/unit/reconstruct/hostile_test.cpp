// Input that no honest program writes: counted, never fatal.
#include <chrono>
#include <limits>
#include <random>

#include "base/file.h"
#include "run_builder.h"

namespace teller {
namespace {

TEST(Hostile, AMillionNestedRanges) {
  RunBuilder run;
  constexpr int kDepth = 1'000'000;
  for (int i = 0; i < kDepth; ++i) run.push("deep", i);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.chains.node_count(), kDepth + 1u);
  EXPECT_EQ(rebuilt.counter("open_items"), static_cast<std::uint64_t>(kDepth));
}

TEST(Hostile, ImpossibleTimes) {
  RunBuilder run;
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  run.source(R"({"dialect":"kineto","clock":{"unix_offset_ns":-9223372036854775807}})");
  run.source(R"({"dialect":"kineto","clock":{"unix_offset_ns":9223372036854775807}})");
  run.range("backwards", 100, 50)
      .range("first", least, least + 5)
      .range("last", kOpenNs - 1, kOpenNs);
  run.step("step", least, kOpenNs - 1).kernel("k", least, kOpenNs - 1, 1).pop(least);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.counter("negative_durations"), 1u);
  EXPECT_GT(rebuilt.counter("times_clamped"), 0u);
}

TEST(Hostile, RandomRecordsBalance) {
  std::mt19937_64 random(7);
  const auto pick = [&](std::int64_t below) { return static_cast<std::int64_t>(random() % below); };
  for (int round = 0; round < 20; ++round) {
    RunBuilder run;
    run.source(round % 2 == 0 ? R"({"dialect":"kineto"})" : R"({"dialect":"capture","pid":1})");
    const char* names[] = {"a", "ProfilerStep#1", "aten::x", "b request=r1", "nccl:x", "teller"};
    for (int i = 0; i < 3000; ++i) {
      run.thread(1 + pick(2), pick(3));
      const std::int64_t begin = pick(1000);
      EventRecord event = run.make(static_cast<EventKind>(pick(22)), names[pick(6)], begin,
                                   pick(20) == 0 ? kOpenNs : begin + pick(300) - 20);
      event.correlation = pick(40);
      event.external = pick(40);
      event.flags = static_cast<std::uint16_t>(random());
      event.category = static_cast<StringId>(pick(8));
      event.domain = static_cast<StringId>(pick(8));
      event.attrs = static_cast<StringId>(pick(8));
      run.add(event);
    }
    const Rebuilt rebuilt(run);
    EXPECT_EQ(rebuilt.records("records_in"), 3000u);
  }
}

TEST(Hostile, ManyIdleThreadsAndActivitiesWithoutACall) {
  RunBuilder run;
  run.source(R"({"dialect":"kineto"})");
  constexpr int kMany = 150'000;
  for (int i = 0; i < kMany; ++i) run.thread(1, i).make(EventKind::kRange, "", 0, 1);
  for (int i = 0; i < kMany; ++i) run.kernel("k", i, i + 1, i);
  const auto begin = std::chrono::steady_clock::now();
  const Rebuilt rebuilt(run);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_EQ(rebuilt.chains.node_count(), kMany + 1u);
}

TEST(Hostile, ATornFileIsReconstructedAsFarAsItGoes) {
  RunBuilder run;
  run.range("a", 10, 20);
  RunFolder& folder = run.finish();
  const std::string path = folder.file("events/0.tev");
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 40);
  auto summary = reconstruct(folder, {});
  ASSERT_TRUE(summary.ok());
  EXPECT_NE(summary->json.find("is not whole"), std::string::npos);
}

TEST(Hostile, TheSameInputGivesTheSameBytes) {
  std::string before;
  for (int round = 0; round < 2; ++round) {
    RunBuilder run;
    run.step("engine step", 0, 100).call("c", 10, 20, 1).kernel("k", 30, 40, 1);
    run.record(5, R"({"v":1,"engine":"e","req":[["r","prefill",1,4,0]]})");
    run.log(R"({"t":1,"text":"r is here"})");
    RunFolder& folder = run.finish();
    ASSERT_TRUE(reconstruct(folder, {}).ok());
    const std::string now = sha256_file(folder.file("chains.tcol")).value() +
                            sha256_file(folder.file("reconstruct.json")).value();
    if (round > 0) {
      EXPECT_EQ(now, before);
    }
    before = now;
  }
}

TEST(Hostile, ARunWithoutEventsSaysWhatToDo) {
  TempDir temp;
  RunFolder run = std::move(RunFolder::create(temp.file("run"), "test", true).value());
  auto summary = reconstruct(run, {});
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace teller
