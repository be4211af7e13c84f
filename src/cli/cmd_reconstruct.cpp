// teller reconstruct
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/stop_on_signal.h"
#include "horizontal/horizontal.h"
#include "merge/merge.h"
#include "reconstruct/reconstruct.h"

namespace teller::cli {

namespace {

constexpr const char* kHelp =
    "Rebuilds the call chains of a run: ranges, bound calls and kernels, engine steps with their\n"
    "rows, requests and aligned log lines. Prints where every record went and how much was "
    "covered.\nThe ranks of a run are compared besides (docs/horizontal.md): teller dump RUN "
    "horizontal.\n\n"
    "Examples:\n"
    "  teller reconstruct RUN            then: teller slice RUN, teller dump RUN chains\n"
    "  teller reconstruct RUN --json     the same figures for programs\n"
    "  teller reconstruct -o JOB node-0/run node-1/run\n"
    "                                    several hosts: teller merge, then this\n"
    "  teller reconstruct RUN --log-window 60\n"
    "                                    log lines may lie up to 60 s from the nearest step\n"
    "  teller reconstruct RUN --roles mine.txt\n"
    "                                    what kernels of yours do (docs/reconstruct.md, Roles)";

constexpr double kMaxWindowSeconds = 1e9;

struct Arguments {
  std::vector<std::string> runs;
  std::string output;
  bool overwrite = false;
  bool json = false;
  double log_window_seconds = 10;
  std::vector<std::string> role_files;
};

// The run to work on: the one that is named, or what several are merged into.
Result<std::string> one_run(const Arguments& arguments) {
  if (arguments.output.empty() && arguments.runs.size() == 1) return arguments.runs[0];
  if (arguments.output.empty()) {
    return Error{ErrorCode::kUsage, "reconstruct: several runs need a place to be merged into",
                 "name it with -o"};
  }
  const StopOnSignal guard;
  TELLER_TRY(const MergeSummary merged, merge({arguments.runs, arguments.output,
                                               arguments.overwrite, &StopOnSignal::asked()}));
  for (const std::string& file : merged.damaged) {
    std::fprintf(stderr, "teller: not whole: %s\n", printable(file).c_str());
  }
  for (const std::string& run : merged.no_clock) {
    std::fprintf(stderr, "teller: %s does not say its clock: its times are kept as they are\n",
                 printable(run).c_str());
  }
  return arguments.output;
}

Result<int> run_command(const Arguments& arguments) {
  const double window = arguments.log_window_seconds;
  if (!(window >= 0 && window <= kMaxWindowSeconds)) {
    return Error{ErrorCode::kUsage, "reconstruct: --log-window must be between 0 and 1e9 seconds",
                 "see teller reconstruct --help"};
  }
  ReconstructOptions options;
  options.log_window_ns = std::llround(window * 1e9);
  options.role_files = arguments.role_files;
  TELLER_TRY(const std::string path, one_run(arguments));
  TELLER_TRY(RunFolder run, RunFolder::open(path));
  TELLER_TRY(const ReconstructSummary summary, reconstruct(run, options));
  std::fputs((arguments.json ? summary.json : summary.text).c_str(), stdout);
  TELLER_TRY(const auto ranks, compare_ranks(run, {}));
  if (ranks && !arguments.json) std::fputs(ranks->text.c_str(), stdout);
  return 0;
}

}  // namespace

void add_reconstruct(CLI::App& app, Context& context) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("reconstruct", "Rebuild the call chains of a run");
  command->footer(kHelp);
  command->add_option("RUN", arguments->runs, "Run folder; several are merged first")->required();
  command->add_option("-o,--output", arguments->output, "Run folder to merge them into");
  command->add_flag("--overwrite", arguments->overwrite, "Replace a run that is there");
  command->add_flag("--json", arguments->json, "Print reconstruct.json instead of text");
  command->add_option("--log-window", arguments->log_window_seconds,
                      "Seconds that a log line may lie from the nearest step (default 10)");
  command
      ->add_option("--roles", arguments->role_files,
                   "File with roles of names, asked before the built-in ones; repeatable")
      ->allow_extra_args(false);
  command->callback(
      [&context, arguments] { context.run = [arguments]() { return run_command(*arguments); }; });
}

}  // namespace teller::cli
