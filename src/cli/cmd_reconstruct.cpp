// teller reconstruct
#include "cli/commands.h"

namespace teller::cli {

void add_reconstruct(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("reconstruct", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "reconstruct: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
