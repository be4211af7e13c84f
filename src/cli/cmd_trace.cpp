// teller trace
#include "cli/commands.h"

namespace teller::cli {

void add_trace(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("trace", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "trace: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
