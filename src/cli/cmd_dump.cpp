// teller dump
#include "cli/commands.h"

namespace teller::cli {

void add_dump(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("dump", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "dump: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
