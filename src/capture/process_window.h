// What `--last` keeps of one process, and what the triggers want to know of it.
#pragma once

#include <string>
#include <string_view>

#include "capture/arena_reader.h"
#include "capture/record_window.h"
#include "capture/step_watch.h"

namespace teller::capture {

class ProcessWindow : public ArenaSink {
 public:
  // `meta`: META of the event file that it becomes. `slow_step`: as in StepWatch.
  ProcessWindow(std::int64_t pid, std::string meta, double slow_step)
      : pid_(pid), meta_(std::move(meta)), steps_(slow_step) {}

  // Time of the records to come, CLOCK_MONOTONIC.
  void set_time(std::int64_t now_ns) {
    now_ns_ = now_ns;
    records_.set_time(now_ns);
  }
  void on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                     std::string_view text) override {
    records_.on_definition(kind, domain, id, text);
    steps_.on_definition(kind, domain, id, text);
  }
  void on_record(std::uint32_t ring, const ring::RecordHeader& header,
                 std::string_view payload) override {
    records_.on_record(ring, header, payload);
    steps_.on_record(ring, header, payload, now_ns_);
  }
  void on_open_call(std::uint32_t ring, const ring::OpenCall& call) override {
    records_.on_open_call(ring, call);
  }

  std::int64_t pid() const { return pid_; }
  const std::string& meta() const { return meta_; }
  RecordWindow& records() { return records_; }
  const RecordWindow& records() const { return records_; }
  StepWatch& steps() { return steps_; }

 private:
  std::int64_t pid_;
  std::string meta_;
  RecordWindow records_;
  StepWatch steps_;
  std::int64_t now_ns_ = 0;
};

}  // namespace teller::capture
