// The event file of one process while it is written: the first failure ends it, quietly.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "run_folder/event_file.h"

namespace teller::capture {

// Not thread-safe.
class EventOutput {
 public:
  explicit EventOutput(EventFileWriter file) : file_(std::move(file)) {}

  EventFileWriter& file() { return file_; }
  const EventFileWriter& file() const { return file_; }
  const Status& status() const { return status_; }
  std::uint64_t records() const { return records_; }

  void add(const EventRecord& event) {
    if (!status_) return;
    keep(file_.add(event));
    ++records_;
  }
  // At once: a reader of a run whose recorder died should know it too.
  void write_meta(const nlohmann::ordered_json& meta) {
    if (status_) keep(file_.write_meta(text_of(meta)));
  }
  void flush() {
    if (status_) keep(file_.flush());
  }
  void finish(const nlohmann::ordered_json& meta) {
    if (status_) keep(file_.finish(text_of(meta)));
  }
  // Attributes of events of which hardly two are equal.
  StringId attributes(const nlohmann::ordered_json& attrs) {
    return attrs.empty() ? 0 : file_.append_text(text_of(attrs));
  }
  static std::string text_of(const nlohmann::ordered_json& json) {
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }

 private:
  void keep(Status status) {
    if (!status && status_) status_ = std::move(status);
  }

  EventFileWriter file_;
  Status status_;
  std::uint64_t records_ = 0;
};

}  // namespace teller::capture
