// teller dump: prints what a run folder holds.
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "dump/dump.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  teller dump RUN                     everything, as text\n"
    "  teller dump RUN chains.steps        the steps that reconstruct found\n"
    "  teller dump RUN events --json       the raw events as JSON lines\n"
    "  teller dump RUN/events/1.4211.tev   one event file\n";

struct Options {
  std::string path;
  DumpOptions dump;
};

}  // namespace

void add_dump(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("dump", "Print any file of a run as text or JSON lines");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->path, "run folder, or a .tev or .tcol file of one")
      ->required();
  command->add_option(
      "ARTEFACT", options->dump.artifact,
      "manifest, events, logs, processes, context, chains, chains.TABLE, findings, slices, "
      "tokens, tokens.TABLE, diagnosis or labels (default: all there is)");
  command->add_flag("--json", options->dump.json, "one JSON object per line");
  command->add_option("--limit", options->dump.limit, "print at most N records per file or table")
      ->type_name("N");
  command->footer(kFooter);
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> {
      TELLER_CHECK_OK(dump(options->path, options->dump, std::cout));
      if (!std::cout.flush()) {
        return Error{ErrorCode::kIo, "writing the output: it could not be written", ""};
      }
      return 0;
    };
  });
}

}  // namespace teller::cli
