// teller import
#include "cli/commands.h"

namespace teller::cli {

void add_import(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("import", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "import: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
