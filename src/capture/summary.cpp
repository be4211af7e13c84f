#include "capture/summary.h"

#include <sys/wait.h>

#include <cstring>

#include "capture/capture.h"

namespace teller::capture {

namespace {

std::string counted(std::uint64_t number, const char* what) {
  std::string text = std::to_string(number) + " " + what;
  return number == 1 ? text : text + (text.ends_with("s") ? "es" : "s");
}

void add_loss(std::string& text, std::uint64_t number, const std::string& what) {
  if (number == 0) return;
  text += (text.empty() ? "" : ", ") + std::to_string(number) + " " + what;
}

std::string losses_of(const RunTotals& totals) {
  std::string text;
  add_loss(
      text, totals.dropped,
      "events dropped (ring full), with them " + std::to_string(totals.dropped_ranges) + " ranges");
  add_loss(text, totals.without_ring, "events of threads beyond the limit");
  add_loss(text, totals.device_dropped, "device records dropped by CUPTI");
  add_loss(text, totals.device_unknown, "device records of kinds not known");
  add_loss(text, totals.device_malformed, "device records that leave their buffer");
  add_loss(text, totals.definitions_lost, "names lost (table full)");
  add_loss(text, totals.cut, "texts cut");
  add_loss(text, totals.corrupt + totals.invalid, "records that made no sense");
  add_loss(text, totals.bad_step_records, "step records that are not JSON objects");
  add_loss(text, totals.refused_processes, "processes that could not be taken over");
  add_loss(text, totals.log_bytes_unkept, "bytes of output not kept as log lines");
  add_loss(text, totals.output_bytes_unforwarded, "bytes of output that could not be passed on");
  add_loss(text, totals.context.records_lost, "samples of processes and host");
  return text;
}

}  // namespace

std::vector<std::string> summary_lines(const RunEnd& end, const RunTotals& totals) {
  std::vector<std::string> lines;
  if (WIFSIGNALED(end.wait_status)) {
    const int number = WTERMSIG(end.wait_status);
    lines.push_back("the program was killed by signal " + std::to_string(number) + " (" +
                    strsignal(number) + "); the run holds what it recorded up to then: at most " +
                    "the last flush period (" + std::to_string(kFlushPeriodMs) +
                    " ms) can be missing");
  }
  if (!end.stop_reason.empty()) {
    lines.push_back("the capture stopped early: " + end.stop_reason +
                    "; the program was not affected");
  }
  if (end.recorder != 0) {
    lines.push_back(counted(end.still_running, "process") +
                    " of the run may still be at work: recording goes on in the background (pid " +
                    std::to_string(end.recorder) + ") until they end");
  }
  if (!end.manifest_error.empty()) {
    lines.push_back("the manifest could not be written: " + end.manifest_error);
  }
  const std::string losses = losses_of(totals);
  lines.push_back("run " + end.run + ": " + counted(totals.events, "event") + ", " +
                  counted(totals.ranges, "range") + ", " + counted(totals.log_lines, "log line") +
                  ", " + counted(totals.processes, "process") + " (" +
                  std::to_string(totals.traced_processes) + " recorded events)" +
                  (losses.empty() ? "" : "; lost: " + losses));
  if (totals.redacted.total() > 0) {
    lines.push_back(
        counted(totals.redacted.total(), "secret") +
        " or prompts were redacted in what is stored (docs/logs.md; --no-redact keeps " + "them)");
  }
  return lines;
}

}  // namespace teller::capture
