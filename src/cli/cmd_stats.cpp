// teller stats
#include <cstdio>
#include <memory>

#include "cli/commands.h"
#include "stats/stats.h"

namespace teller::cli {

namespace {

constexpr const char* kHelp =
    "Counts what a run holds, per source file and in total: events by category, device activities\n"
    "and how many have their call, busy time per device, overlaps. Works before reconstruct "
    "too.\n\n"
    "Examples:\n"
    "  teller stats RUN\n"
    "  teller stats RUN --json           sources[] and total for programs";

struct Arguments {
  std::string run;
  bool json = false;
};

Result<int> run_command(const Arguments& arguments) {
  TELLER_TRY(const RunFolder run, RunFolder::open(arguments.run));
  TELLER_TRY(const RunStats result, stats(run));
  std::fputs((arguments.json ? result.json : result.text).c_str(), stdout);
  return 0;
}

}  // namespace

void add_stats(CLI::App& app, Context& context) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("stats", "Count what a run holds");
  command->footer(kHelp);
  command->add_option("RUN", arguments->run, "Run folder")->required();
  command->add_flag("--json", arguments->json, "Print JSON");
  command->callback(
      [&context, arguments] { context.run = [arguments]() { return run_command(*arguments); }; });
}

}  // namespace teller::cli
