// Device activities that find their ring full: how long the traced program is held up.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "capture/arena_reader.h"
#include "preload/cuda_recorder.h"
#include "unit/preload/played_recorder.h"

namespace teller::collector {
namespace {

using Clock = std::chrono::steady_clock;

struct Counting : capture::ArenaSink {
  void on_definition(ring::DefinitionKind, std::uint32_t, std::uint64_t,
                     std::string_view) override {}
  void on_record(std::uint32_t, const ring::RecordHeader& header, std::string_view) override {
    if (header.type == static_cast<std::uint16_t>(ring::RecordType::kDevice)) ++records;
  }
  void on_open_call(std::uint32_t, const ring::OpenCall&) override {}
  std::uint64_t records = 0;
};

// Records `buffers` deliveries of `each` activities on a thread, and so a ring, of its own. Returns
// the milliseconds that it took.
double record(int buffers, int each) {
  const auto begin = Clock::now();
  std::thread([&] {
    for (int buffer = 0; buffer < buffers; ++buffer) {
      WaitBudget budget;
      for (int i = 0; i < each; ++i) record_device({}, "kernel", budget);
    }
  }).join();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

constexpr int kMoreThanARing = 8000;

TEST(RecordDevice, WaitsOnceForADeadRecorder) {
  recorder();
  const std::uint64_t before = recorder().losses().dropped;
  EXPECT_LT(record(500, kMoreThanARing / 100), 1000);
  EXPECT_GT(recorder().losses().dropped, before);
  // It gives a sign of life, and dies again: one more wait.
  Counting sink;
  recorder().drain(sink);
  EXPECT_LT(record(500, kMoreThanARing / 100), 1000);
}

TEST(RecordDevice, ADeliveryWaitsForALiveRecorderAndLosesNothing) {
  recorder();
  Counting sink;
  recorder().drain(sink);
  sink.records = 0;
  const std::uint64_t before = recorder().losses().dropped;
  std::atomic<bool> done{false};
  std::thread drains([&] {
    while (!done) {
      recorder().drain(sink);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  record(100, kMoreThanARing / 10);
  done = true;
  drains.join();
  recorder().drain(sink);
  const std::uint64_t dropped = recorder().losses().dropped - before;
  EXPECT_EQ(sink.records + dropped, 10u * kMoreThanARing);
  EXPECT_LT(dropped, 1u * kMoreThanARing);  // none, but on a machine that stands still
}

TEST(RecordDevice, NothingWaitsOnceTheCaptureHasStopped) {
  recorder();
  Counting sink;
  recorder().drain(sink);
  recorder().stop();
  const std::uint64_t before = recorder().losses().dropped;
  EXPECT_LT(record(500, kMoreThanARing / 100), 500);
  EXPECT_EQ(recorder().losses().dropped, before);
}

}  // namespace
}  // namespace teller::collector
