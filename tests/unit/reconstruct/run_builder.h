// Builds a run folder record by record, reconstructs it, and finds nodes by name.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../run_folder/temp_dir.h"
#include "reconstruct/reconstruct.h"
#include "run_folder/chains.h"
#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"

namespace teller {

class RunBuilder {
 public:
  RunBuilder() : run_(std::move(RunFolder::create(temp_.file("run"), "test", true).value())) {
    std::filesystem::create_directories(run_.file("events"));
  }

  // Starts an event file; what follows goes into it.
  RunBuilder& source(const std::string& meta = R"({"dialect":"capture","pid":1})") {
    finish_source();
    files_.push_back("events/" + std::to_string(files_.size()) + ".tev");
    auto created = EventFileWriter::create(run_.file(files_.back()), meta);
    writer_ = std::make_unique<EventFileWriter>(std::move(created.value()));
    return *this;
  }

  // Host records happen on this thread from now on.
  RunBuilder& thread(std::int64_t pid, std::int64_t tid) {
    pid_ = pid;
    tid_ = tid;
    return *this;
  }

  EventRecord make(EventKind kind, const std::string& name, std::int64_t begin, std::int64_t end) {
    if (!writer_) source();
    EventRecord event;
    event.kind = static_cast<std::uint16_t>(kind);
    event.begin_ns = begin;
    event.end_ns = end;
    event.name = writer_->intern(name);
    TrackRecord track;
    track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
    track.pid = pid_;
    track.tid = tid_;
    event.track = writer_->track(track);
    return event;
  }
  TrackId track(const TrackRecord& record) { return writer_->track(record); }
  // A text of the current file.
  StringId text(const std::string& text) { return writer_->intern(text); }
  // The same with an id of its own, whatever the text.
  StringId new_text(const std::string& text) { return writer_->append_text(text); }
  RunBuilder& add(const EventRecord& event) {
    EXPECT_TRUE(writer_->add(event).ok());
    return *this;
  }

  RunBuilder& range(const std::string& name, std::int64_t begin, std::int64_t end,
                    std::uint16_t flags = 0) {
    EventRecord event = make(EventKind::kRange, name, begin, end);
    event.flags = flags;
    return add(event);
  }
  RunBuilder& external_range(const std::string& name, std::int64_t begin, std::int64_t end,
                             std::uint64_t id) {
    EventRecord event = make(EventKind::kRange, name, begin, end);
    event.flags = kFlagOperator | kFlagHasExternal;
    event.external = id;
    return add(event);
  }
  RunBuilder& push(const std::string& name, std::int64_t time, const std::string& domain = "",
                   const std::string& category = "") {
    EventRecord event = make(EventKind::kRangePush, name, time, time);
    event.domain = writer_->intern(domain);
    event.category = writer_->intern(category);
    return add(event);
  }
  RunBuilder& pop(std::int64_t time, const std::string& domain = "") {
    EventRecord event = make(EventKind::kRangePop, "", time, time);
    event.domain = writer_->intern(domain);
    return add(event);
  }
  RunBuilder& step(const std::string& name, std::int64_t begin, std::int64_t end) {
    EventRecord event = make(EventKind::kRange, name, begin, end);
    event.domain = writer_->intern("teller");
    event.category = writer_->intern("STEP");
    return add(event);
  }
  RunBuilder& record(std::int64_t time, const std::string& json) {
    EventRecord event = make(EventKind::kStepRecord, "", time, time);
    event.attrs = writer_->intern(json);
    return add(event);
  }
  RunBuilder& call(const std::string& name, std::int64_t begin, std::int64_t end,
                   std::uint64_t correlation, std::uint64_t external = 0) {
    EventRecord event = make(EventKind::kApiCall, name, begin, end);
    event.flags = kFlagHasCorrelation;
    event.correlation = correlation;
    event.external = external;
    if (external != 0) event.flags |= kFlagHasExternal;
    return add(event);
  }
  RunBuilder& kernel(const std::string& name, std::int64_t begin, std::int64_t end,
                     std::uint64_t correlation, std::uint64_t external = 0,
                     std::int32_t device = 0) {
    EventRecord event = make(EventKind::kKernel, name, begin, end);
    event.flags = kFlagHasCorrelation;
    event.correlation = correlation;
    event.external = external;
    if (external != 0) event.flags |= kFlagHasExternal;
    event.track = stream(device);
    return add(event);
  }
  // A flow's begin or end on a thread, or on the row of a device (stream 7).
  RunBuilder& flow(EventKind kind, const std::string& category, std::uint64_t id, std::int64_t time,
                   std::int32_t device = -1) {
    EventRecord event = make(kind, category, time, time);
    event.category = writer_->intern(category);
    event.flags = kFlagHasCorrelation;
    event.correlation = id;
    if (device >= 0) event.track = stream(device);
    return add(event);
  }
  // An activity on stream 7 that no id ties to a call.
  RunBuilder& loose_kernel(const std::string& name, std::int64_t begin, std::int64_t end,
                           std::int32_t device = 0) {
    EventRecord event = make(EventKind::kKernel, name, begin, end);
    event.track = stream(device);
    return add(event);
  }
  // One line of logs.jsonl, as JSON.
  RunBuilder& log(const std::string& json) {
    logs_ += json + "\n";
    return *this;
  }

  RunFolder& folder() { return run_; }

  RunFolder& finish() {
    finish_source();
    EXPECT_TRUE(run_.publish({"events", files_, "test", 0, {}, "{}"}).ok());
    if (!logs_.empty()) {
      std::ofstream(run_.file("logs.jsonl")) << logs_;
      EXPECT_TRUE(run_.publish({"logs", {"logs.jsonl"}, "test", 0, {}, "{}"}).ok());
    }
    EXPECT_TRUE(run_.save().ok());
    return run_;
  }

 private:
  TrackId stream(std::int32_t device) {
    TrackRecord track;
    track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
    track.pid = pid_;
    track.device = device;
    track.stream = 7;
    track.device_label = writer_->intern(std::to_string(device));
    track.stream_label = writer_->intern("7");
    return writer_->track(track);
  }

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
  std::string logs_;
  std::int64_t pid_ = 1;
  std::int64_t tid_ = 1;
};

// A reconstructed run.
class Rebuilt {
 public:
  explicit Rebuilt(RunBuilder& builder, const ReconstructOptions& options = {}) {
    RunFolder& run = builder.finish();
    auto summary = reconstruct(run, options);
    EXPECT_TRUE(summary.ok()) << (summary.ok() ? "" : summary.error().message);
    if (!summary) return;
    report = nlohmann::json::parse(summary->json);
    auto opened = Chains::open(run.file("chains.tcol"));
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    if (opened) chains = std::move(*opened);
  }

  // The first node of this name; kNoIndex if there is none.
  std::uint32_t node(std::string_view name) const {
    for (std::uint32_t at = 0; at < chains.node_count(); ++at) {
      if (chains.string(chains.nodes.name[at]) == name) return at;
    }
    return kNoIndex;
  }
  std::string name(std::uint32_t at) const {
    return at == kNoIndex ? "none" : std::string(chains.string(chains.nodes.name[at]));
  }
  std::string parent(std::string_view name_of_child) const {
    const std::uint32_t at = node(name_of_child);
    return at == kNoIndex ? "no such node" : name(chains.nodes.parent[at]);
  }
  bool has(std::string_view name_of_node, NodeFlag flag) const {
    return (chains.nodes.flags[node(name_of_node)] & flag) != 0;
  }
  std::uint64_t counter(const char* key) const { return report["counters"][key]; }
  std::uint64_t records(const char* key) const { return report["total"]["records"][key]; }

  Chains chains;
  nlohmann::json report;
};

}  // namespace teller
