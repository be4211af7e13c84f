// teller snapshot: looks at a job that hangs now.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "cli/stop_on_signal.h"
#include "snapshot/snapshot.h"

namespace teller::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Takes stacks of all threads, what they wait for, open files and sockets, GPU and NCCL state, "
    "and\n"
    "the ends of log files, of processes that teller did not start; and says who holds up whom. "
    "The\n"
    "processes are not stopped and nothing is written into them (but see --pause, "
    "--trigger-dump).\n"
    "Python stacks need py-spy on PATH; what could not be had is listed with what to do about it.\n"
    "Processes of other users need root. See docs/snapshot.md.\n\n"
    "Examples:\n"
    "  teller snapshot 4211                    this process, its children, the ranks of its job\n"
    "  teller snapshot -o RUN --no-job 4211 4212\n"
    "  teller snapshot --samples 5 --interval 2000 4211\n"
    "  teller diagnose RUN --json              the reading again\n";

struct Options {
  SnapshotOptions snapshot;
  bool json = false;
  bool no_children = false;
  bool no_logs = false;
};

// Those that somebody can do something about.
void print_gaps(const Json& document) {
  for (const Json& gap : document["gaps"]) {
    const std::string of = gap["pid"].is_null() ? "" : " of " + gap["pid"].dump();
    const std::string hint = gap["hint"].get<std::string>();
    if (hint.empty()) continue;
    log_warning(printable("not had: " + gap["part"].get<std::string>() + of + ": " +
                          gap["reason"].get<std::string>() + " (" + hint + ")"));
  }
}

Result<int> run_snapshot(Options& options) {
  options.snapshot.children = !options.no_children;
  options.snapshot.logs = !options.no_logs;
  const StopOnSignal guard;
  options.snapshot.stop = &StopOnSignal::asked();
  TELLER_TRY(const SnapshotResult taken, take_snapshot(options.snapshot));
  TELLER_TRY(RunFolder run, RunFolder::open(taken.path));
  TELLER_TRY(const Json diagnosis, diagnose_snapshot(run));
  const int exit_code = StopOnSignal::asked() ? StopOnSignal::exit_code() : 0;
  if (options.json) {
    Json document = {{"run", taken.path}, {"gaps", *taken.gaps}, {"diagnosis", diagnosis}};
    put_json(document);
    return exit_code;
  }
  print_gaps({{"gaps", *taken.gaps}});
  std::printf("%srun: %s\n", snapshot_diagnosis_text(diagnosis).c_str(),
              printable(taken.path).c_str());
  return exit_code;
}

void add_options(CLI::App* command, Options& options) {
  SnapshotOptions& snapshot = options.snapshot;
  command->add_option("PID", snapshot.pids, "processes to look at")->required();
  command->add_option("-o,--output", snapshot.output,
                      "run folder to write (default: runs/snapshot-<time>)");
  command->add_flag("--overwrite", snapshot.overwrite, "replace a run that is there");
  command->add_flag("--json", options.json, "print the reading as one JSON document");
  command->add_flag("--no-children", options.no_children, "leave out descendants");
  command->add_flag("--job,!--no-job", snapshot.job,
                    "also other processes of the same job on this host (the default)");
  command->add_flag("--no-logs", options.no_logs, "leave out the ends of log files");
  command->add_option("--samples", snapshot.samples, "how often to look")->capture_default_str();
  command->add_option("--interval", snapshot.interval_ms, "milliseconds between two looks")
      ->capture_default_str();
  command->add_option("--duration", snapshot.duration_s, "seconds that all of it may take")
      ->capture_default_str();
  command->add_flag("--pause", snapshot.pause,
                    "allow py-spy --native and gdb, which stop a process for some milliseconds");
  command->add_flag("--trigger-dump", snapshot.trigger_dump,
                    "ask PyTorch's flight recorder for a dump (writes into its pipe)");
}

}  // namespace

void add_snapshot(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "snapshot", "Look at running processes that hang, and say who waits for whom");
  auto options = std::make_shared<Options>();
  add_options(command, *options);
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_snapshot(*options); }; });
}

}  // namespace teller::cli
