// Everything that becomes log lines: the program's output on its way, and the files that are
// followed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/channel.h"
#include "capture/forwarder.h"
#include "capture/log_files.h"
#include "capture/log_lines.h"
#include "capture/run_writer.h"

namespace teller::capture {

class LogCollector {
 public:
  // Starts passing the channels' bytes on.
  LogCollector(const std::vector<Channel>& channels, const std::vector<std::string>& files,
               const Redactor* redactor);

  void set_pid(std::int64_t pid);
  // Gives pseudo-terminals the size that their terminals have now.
  void resize() const;
  // Writes the lines that are complete.
  void collect(RunWriter& writer);
  // Writes what is left as last lines.
  void finish(RunWriter& writer);
  void stop_keeping();
  // All channels are closed on either side.
  bool ended() const;
  // The program has ended: from now on drained() is answered at once.
  void hurry();
  // What was written before `since_ns` has been passed on.
  bool drained(std::int64_t since_ns) const;
  // Channels that have ended since the last call, by index.
  std::vector<std::size_t> take_ended();
  void add_counts(RunTotals* totals) const;
  // What became of the followed files, for the manifest.
  nlohmann::ordered_json describe_files() const;

 private:
  struct Output {
    std::unique_ptr<Forwarder> forwarder;
    LogLines lines;
    bool told = false;
  };
  std::vector<Output> outputs_;
  LogFiles files_;
};

}  // namespace teller::capture
