#include "stats/stats.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "run_folder/event_file.h"

namespace teller {
namespace {

using Json = nlohmann::json;

class Stats : public testing::Test {
 protected:
  Stats() : run_(std::move(RunFolder::create(temp_.file("run"), "test", true).value())) {
    std::filesystem::create_directories(run_.file("events"));
  }

  void start(const std::string& meta) {
    finish_source();
    files_.push_back("events/" + std::to_string(files_.size()) + ".tev");
    auto created = EventFileWriter::create(run_.file(files_.back()), meta);
    writer_ = std::make_unique<EventFileWriter>(std::move(created.value()));
  }

  void add(EventKind kind, const char* category, std::int64_t begin, std::int64_t end,
           std::int64_t correlation = -1, const char* device = "0", std::int64_t pid = 1) {
    EventRecord event;
    event.kind = static_cast<std::uint16_t>(kind);
    event.category = writer_->intern(category);
    event.name = writer_->intern(std::string(category) + "-name");
    event.begin_ns = begin;
    event.end_ns = end;
    if (correlation >= 0) {
      event.flags = kFlagHasCorrelation;
      event.correlation = static_cast<std::uint64_t>(correlation);
    }
    TrackRecord track;
    track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
    track.pid = pid;
    track.device_label = writer_->intern(device);
    track.stream_label = writer_->intern("7");
    event.track = writer_->track(track);
    ASSERT_TRUE(writer_->add(event).ok());
  }

  Json result() {
    finish_source();
    EXPECT_TRUE(run_.publish({"events", files_, "test", 0, {}, "{}"}).ok());
    auto counted = stats(run_);
    EXPECT_TRUE(counted.ok());
    text_ = counted->text;
    return Json::parse(counted->json);
  }

  std::string text_;

 private:
  void finish_source() {
    if (writer_) {
      EXPECT_TRUE(writer_->finish("").ok());
    }
    writer_.reset();
  }

  TempDir temp_;
  RunFolder run_;
  std::unique_ptr<EventFileWriter> writer_;
  std::vector<std::string> files_;
};

TEST_F(Stats, CountsAKinetoFileLikeTheReference) {
  start(R"({"dialect":"kineto","source":"a.json","rank":0,"world_size":null})");
  add(EventKind::kRange, "cpu_op", 0, 10);
  add(EventKind::kRange, "user_annotation", 0, 10);
  add(EventKind::kMark, "cpu_instant_event", 5, 5);
  add(EventKind::kFlowStart, "ac2g", 5, 5, 7);
  add(EventKind::kApiCall, "cuda_runtime", 1, 2, 7);
  add(EventKind::kApiCall, "xpu_runtime", 1, 2, 8);
  add(EventKind::kKernel, "kernel", 10, 20, 7);
  add(EventKind::kKernel, "kernel", 15, 30, 8);
  add(EventKind::kMemcpy, "gpu_memcpy", 40, 50, -1, "1");
  add(EventKind::kUnknown, "some_new_category", 0, 10);
  const Json source = result()["sources"][0];
  EXPECT_EQ(source["file"], "a.json");
  EXPECT_EQ(source["complete_events"], (Json{{"cpu_op", 1},
                                             {"cuda_runtime", 1},
                                             {"gpu_memcpy", 1},
                                             {"kernel", 2},
                                             {"some_new_category", 1},
                                             {"user_annotation", 1},
                                             {"xpu_runtime", 1}}));
  EXPECT_EQ(source["device_activities"], 3);
  EXPECT_EQ(source["device_activities_bound"], 1);
  EXPECT_EQ(source["busy_ns"], (Json{{"0", 20}, {"1", 10}}));
  EXPECT_EQ(source["same_stream_overlaps"], 1);
  EXPECT_EQ(source["annotations"], (Json{"user_annotation-name"}));
  EXPECT_EQ(source["rank"], 0);
  EXPECT_TRUE(source["world_size"].is_null());
}

TEST_F(Stats, NsightFilesBindByProcess) {
  start(R"({"dialect":"nsys","source":"a.sqlite","rows":{"NVTX_EVENTS":3}})");
  add(EventKind::kApiCall, "CUPTI_ACTIVITY_KIND_RUNTIME", 1, 2, 7, "", 1);
  add(EventKind::kKernel, "CUPTI_ACTIVITY_KIND_KERNEL", 10, 20, 7, "0", 1);
  add(EventKind::kKernel, "CUPTI_ACTIVITY_KIND_KERNEL", 30, 40, 7, "0", 2);
  const Json source = result()["sources"][0];
  EXPECT_EQ(source["rows"], (Json{{"NVTX_EVENTS", 3}}));
  EXPECT_EQ(source["device_activities_bound"], 1);
  EXPECT_FALSE(source.contains("annotations"));
}

TEST_F(Stats, AddsUpSourcesAndSaysThatNothingWasReconstructed) {
  for (int i = 0; i < 2; ++i) {
    start(R"({"dialect":"kineto","source":"a.json"})");
    add(EventKind::kKernel, "kernel", 10, 20);
  }
  const Json all = result();
  EXPECT_EQ(all["total"]["device_activities"], 2);
  EXPECT_EQ(all["total"]["complete_events"]["kernel"], 2);
  EXPECT_EQ(all["total"]["busy_ns"], 20);
  EXPECT_EQ(all["reconstruction"]["state"], "not reconstructed");
  EXPECT_NE(text_.find("reconstruction: not reconstructed"), std::string::npos);
}

TEST_F(Stats, HostileTimesDoNotTrap) {
  start(R"({"dialect":"kineto","source":"a.json"})");
  add(EventKind::kKernel, "kernel", std::numeric_limits<std::int64_t>::min(), kOpenNs - 1);
  add(EventKind::kKernel, "kernel", 5, 3);
  add(EventKind::kKernel, "kernel", 5, kOpenNs);
  EXPECT_EQ(result()["sources"][0]["device_activities"], 3);
}

}  // namespace
}  // namespace teller
