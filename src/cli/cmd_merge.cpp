// teller merge
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "cli/stop_on_signal.h"
#include "merge/merge.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "The runs stay as they are. Each event file keeps its own clock, host and rank; times of log "
    "lines and\n"
    "processes are put on the clock of the first run, as far as the hosts' clocks agree.\n\n"
    "Examples:\n"
    "  teller merge -o JOB node-*/run\n"
    "  teller reconstruct -o JOB node-0/run node-1/run     the same, and then the call chains\n";

void print_json(const MergeSummary& summary, const std::string& output) {
  const nlohmann::ordered_json document = {{"run", output},
                                           {"runs", summary.runs},
                                           {"event_files", summary.event_files},
                                           {"log_lines", summary.log_lines},
                                           {"processes", summary.processes},
                                           {"malformed_lines", summary.malformed_lines},
                                           {"times_out_of_range", summary.times_out_of_range},
                                           {"no_clock", summary.no_clock},
                                           {"unfinished", summary.unfinished},
                                           {"damaged", summary.damaged}};
  put_json(document, 2);
}

void print_text(const MergeSummary& summary, const std::string& output) {
  std::printf("run %s: %llu runs, %llu event files, %llu log lines, %llu processes\n",
              printable(output).c_str(), static_cast<unsigned long long>(summary.runs),
              static_cast<unsigned long long>(summary.event_files),
              static_cast<unsigned long long>(summary.log_lines),
              static_cast<unsigned long long>(summary.processes));
  if (summary.malformed_lines > 0) {
    std::printf("  %llu lines of logs or processes were no JSON objects and are left out\n",
                static_cast<unsigned long long>(summary.malformed_lines));
  }
  if (summary.times_out_of_range > 0) {
    std::printf("  %llu times cannot be told on the clock of the first run and are left out\n",
                static_cast<unsigned long long>(summary.times_out_of_range));
  }
  for (const std::string& run : summary.no_clock) {
    std::printf("  %s does not say its clock: its times are kept as they are\n",
                printable(run).c_str());
  }
  for (const std::string& run : summary.unfinished) {
    std::printf("  %s is not sealed: what was written of it so far is taken\n",
                printable(run).c_str());
  }
  for (const std::string& file : summary.damaged) {
    std::printf("  not whole: %s\n", printable(file).c_str());
  }
}

}  // namespace

void add_merge(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("merge", "Bring the runs of several hosts into one");
  command->footer(kFooter);
  auto options = std::make_shared<MergeOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("RUN", options->runs, "run folders, one per host")->required();
  command->add_option("-o,--output", options->output, "run folder to write")->required();
  command->add_flag("--overwrite", options->overwrite, "replace a run that is there");
  command->add_flag("--json", *json, "one JSON document");
  command->callback([&context, options, json] {
    context.run = [options, json]() -> Result<int> {
      const StopOnSignal guard;
      options->stop = &StopOnSignal::asked();
      TELLER_TRY(const MergeSummary summary, merge(*options));
      *json ? print_json(summary, options->output) : print_text(summary, options->output);
      return 0;
    };
  });
}

}  // namespace teller::cli
