// When the window is written: slow steps, matching log lines, and triggers that come too often.
#include <gtest/gtest.h>

#include <cstring>

#include "capture/log_window.h"
#include "capture/step_watch.h"
#include "capture/triggers.h"

namespace teller::capture {
namespace {

using ring::RecordHeader;
using ring::RecordType;

constexpr std::int64_t kMillisecond = 1000000;
constexpr std::int64_t kSecond = 1000 * kMillisecond;

// An engine whose time is what the test says.
struct Engine {
  explicit Engine(double factor) : watch(factor) {
    watch.on_definition(ring::DefinitionKind::kDomain, 0, 9, "teller");
    watch.on_definition(ring::DefinitionKind::kCategory, 9, 1, "STEP");
    watch.on_definition(ring::DefinitionKind::kCategory, 9, 2, "FE");
  }
  void record(RecordType type, std::uint32_t category) {
    const ring::TextRecord fixed{9, category, 0, 0};
    watch.on_record(
        0, RecordHeader{0, static_cast<std::uint16_t>(type), 0, static_cast<std::uint64_t>(now)},
        {reinterpret_cast<const char*>(&fixed), sizeof fixed}, now);
  }
  void step(std::int64_t duration) {
    record(RecordType::kPush, 1);
    record(RecordType::kPush, 1);  // schedule: a part of the step, not a step
    record(RecordType::kPop, 0);
    record(RecordType::kPush, 2);
    now += duration;
    record(RecordType::kPop, 0);
    record(RecordType::kPop, 0);
  }
  StepWatch watch;
  std::int64_t now = kSecond;
};

TEST(StepWatch, AStepSlowerThanTheFactorIsFoundOnce) {
  Engine engine(4);
  for (int i = 0; i < 100; ++i) engine.step(10 * kMillisecond);
  EXPECT_EQ(engine.watch.take(engine.now), "");
  engine.step(39 * kMillisecond);
  EXPECT_EQ(engine.watch.take(engine.now), "");
  engine.step(90 * kMillisecond);
  EXPECT_EQ(engine.watch.take(engine.now), "a step took 90.0 ms, 9.0 times the median of 10.0 ms");
  EXPECT_EQ(engine.watch.take(engine.now), "");
}

TEST(StepWatch, NothingIsSlowBeforeThereAreEnoughSteps) {
  Engine engine(4);
  for (int i = 0; i < 20; ++i) engine.step(10 * kMillisecond);
  engine.step(10 * kSecond);
  EXPECT_EQ(engine.watch.take(engine.now), "");
}

TEST(StepWatch, AStepThatDoesNotEndIsFoundWhileItRuns) {
  Engine engine(4);
  for (int i = 0; i < 50; ++i) engine.step(10 * kMillisecond);
  engine.record(RecordType::kPush, 1);
  engine.now += 900 * kMillisecond;
  EXPECT_EQ(engine.watch.take(engine.now), "");  // not before a second
  engine.now += 600 * kMillisecond;
  EXPECT_EQ(engine.watch.take(engine.now),
            "a step has not ended after 1500.0 ms, 150.0 times the median of 10.0 ms");
  engine.now += 60 * kSecond;
  EXPECT_EQ(engine.watch.take(engine.now), "");
  engine.record(RecordType::kPop, 0);
  EXPECT_EQ(engine.watch.take(engine.now), "");  // the same step is not told twice
}

TEST(StepWatch, OffWithoutAFactor) {
  Engine engine(0);
  for (int i = 0; i < 50; ++i) engine.step(10 * kMillisecond);
  engine.step(10 * kSecond);
  EXPECT_EQ(engine.watch.take(engine.now), "");
}

TEST(LogWindow, PatternsAreMatchedOnTheTextNotOnItsJson) {
  auto window = LogWindow::create({"^say \"no\"$", "CUDA error: .*access"});
  ASSERT_TRUE(window);
  window->add(1, "{\"t\":1,\"text\":\"say \\\"yes\\\"\"}\n");
  EXPECT_EQ(window->take_match(), "");
  window->add(
      2, "{\"t\":1,\"text\":\"say \\\"no\\\"\"}\n{\"t\":2,\"text\":\"CUDA error: bad access\"}\n");
  EXPECT_EQ(window->take_match(), "say \"no\"");  // the first
  EXPECT_EQ(window->take_match(), "");
  EXPECT_EQ(window->lines(), 3u);
  window->forget_before(2);
  EXPECT_EQ(window->lines(), 2u);
  EXPECT_EQ(window->text().find("yes"), std::string::npos);
  EXPECT_TRUE(window->forget_oldest());
  EXPECT_FALSE(window->forget_oldest());
  EXPECT_EQ(window->bytes(), 0u);
}

TEST(LogWindow, APatternThatIsNoneIsRefused) {
  const auto window = LogWindow::create({"fine", "*broken"});
  ASSERT_FALSE(window);
  EXPECT_NE(window.error().message.find("--trigger-log *broken"), std::string::npos);
}

TEST(Triggers, ThoseThatNobodyAskedForAreQuietForAWhile) {
  Triggers triggers(10 * kSecond, 0);
  Trigger trigger;
  EXPECT_FALSE(triggers.take_due(0, &trigger));
  triggers.fire(TriggerKind::kLog, "first", 1 * kSecond);
  triggers.fire(TriggerKind::kSlowStep, "second", 2 * kSecond);
  triggers.fire(TriggerKind::kCommand, "asked", 3 * kSecond, 42);
  EXPECT_EQ(triggers.left_out(), 1u);
  ASSERT_TRUE(triggers.take_due(3 * kSecond, &trigger));
  EXPECT_EQ(trigger.kind, TriggerKind::kLog);
  EXPECT_EQ(trigger.detail, "first; command: asked");
  EXPECT_EQ(trigger.connections, std::vector<int>{42});
  EXPECT_FALSE(triggers.take_due(3 * kSecond, &trigger));
  triggers.fire(TriggerKind::kLog, "later", 12 * kSecond);
  EXPECT_TRUE(triggers.take_due(12 * kSecond, &trigger));
}

TEST(Triggers, TheyWaitForWhatComesAfter) {
  Triggers triggers(kSecond, 2 * kSecond);
  triggers.fire(TriggerKind::kSignal, "SIGUSR2", 10 * kSecond);
  Trigger trigger;
  EXPECT_FALSE(triggers.take_due(11 * kSecond, &trigger));
  EXPECT_TRUE(triggers.take_due(12 * kSecond, &trigger));
  triggers.fire(TriggerKind::kSignal, std::string(100000, 'x'), 10 * kSecond);
  EXPECT_EQ(triggers.take_all().at(0).detail.size(), 1000u);
}

}  // namespace
}  // namespace teller::capture
