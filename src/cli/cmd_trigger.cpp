// teller trigger
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/validators.h"

namespace teller::cli {

namespace {

constexpr const char* kDescription = "Write out what a running trace --last keeps";

constexpr const char* kFooter =
    "The window becomes a run folder of its own in RUN/triggers/, whose path is printed; the "
    "program and\n"
    "the recording go on. Where the recorder cannot be reached (another container), SIGUSR2 to it "
    "does\n"
    "the same: its pid is \"recorder\" in RUN/manifest.json.\n\n"
    "Examples:\n"
    "  teller trigger RUN\n"
    "  teller diagnose $(teller trigger RUN --reason 'users see time-outs')\n";

struct Options {
  std::string run;
  std::string reason = "asked for";
  double timeout_s = 120;
  bool json = false;
};

Result<int> run_trigger(const Options& options) {
  TELLER_TRY(const std::string written,
             capture::trigger_window(options.run, options.reason, options.timeout_s));
  if (options.json) {
    std::puts(nlohmann::ordered_json{{"run", written}}
                  .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  .c_str());
  } else {
    std::puts(printable(written).c_str());
  }
  return 0;
}

}  // namespace

void add_trigger(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("trigger", kDescription);
  command->footer(kFooter);
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder of a trace --last that is recording")
      ->required();
  command->add_option("--reason", options->reason, "kept with the window, for people");
  command->add_option("--timeout", options->timeout_s, "seconds to wait for it (default: 120)")
      ->check(between(0.1, 86400));
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> { return run_trigger(*options); };
  });
}

}  // namespace teller::cli
