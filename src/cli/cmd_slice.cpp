// teller slice
#include "cli/commands.h"

namespace teller::cli {

void add_slice(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("slice", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "slice: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
