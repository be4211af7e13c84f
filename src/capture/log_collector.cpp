#include "capture/log_collector.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace teller::capture {

namespace {

void write_lines(RunWriter& writer, LogLines& lines, std::int64_t time_ns, std::string_view bytes) {
  std::string out;
  lines.add(time_ns, bytes, out);
  writer.append_log(out);
}

}  // namespace

LogCollector::LogCollector(const std::vector<Channel>& channels,
                           const std::vector<std::string>& files, const Redactor* redactor)
    : files_(files, redactor) {
  for (const Channel& channel : channels) {
    outputs_.push_back(
        {std::make_unique<Forwarder>(channel), LogLines(channel.stream, 0, redactor), false});
  }
}

void LogCollector::set_pid(std::int64_t pid) {
  for (Output& output : outputs_) output.lines.set_pid(pid);
  files_.set_pid(pid);
}

void LogCollector::resize() const {
  for (const Output& output : outputs_) {
    if (!output.forwarder->ended()) copy_window_size(output.forwarder->channel());
  }
}

void LogCollector::collect(RunWriter& writer) {
  for (Output& output : outputs_) {
    for (const Chunk& chunk : output.forwarder->take()) {
      if (!writer.stopped()) write_lines(writer, output.lines, chunk.time_ns, chunk.bytes);
    }
  }
  if (writer.stopped()) return;
  std::string lines;
  files_.collect(monotonic_ns(), lines);
  writer.append_log(lines);
}

void LogCollector::finish(RunWriter& writer) {
  std::string last;
  for (Output& output : outputs_) output.lines.finish(last);
  files_.finish(last);
  writer.append_log(last);
}

void LogCollector::stop_keeping() {
  for (Output& output : outputs_) output.forwarder->stop_keeping();
}

bool LogCollector::ended() const {
  return std::all_of(outputs_.begin(), outputs_.end(),
                     [](const Output& output) { return output.forwarder->ended(); });
}

void LogCollector::hurry() {
  for (Output& output : outputs_) output.forwarder->hurry();
}

bool LogCollector::drained(std::int64_t since_ns) const {
  return std::all_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
    return output.forwarder->ended() || output.forwarder->last_idle_ns() > since_ns;
  });
}

std::vector<std::size_t> LogCollector::take_ended() {
  std::vector<std::size_t> ended;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].told || !outputs_[i].forwarder->ended()) continue;
    outputs_[i].told = true;
    ended.push_back(i);
  }
  return ended;
}

void LogCollector::add_counts(RunTotals* totals) const {
  for (const Output& output : outputs_) {
    totals->log_lines += output.lines.lines();
    totals->redacted.add(output.lines.redacted());
    totals->log_bytes_unkept += output.forwarder->unkept_bytes();
    totals->output_bytes_unforwarded += output.forwarder->unforwarded_bytes();
  }
  totals->log_lines += files_.lines();
  totals->redacted.add(files_.redacted());
}

nlohmann::ordered_json LogCollector::describe_files() const {
  return files_.describe();
}

}  // namespace teller::capture
