// teller stats
#include "cli/commands.h"

namespace teller::cli {

void add_stats(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("stats", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "stats: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
