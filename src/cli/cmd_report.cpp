// teller report
#include "cli/commands.h"

namespace teller::cli {

void add_report(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("report", "(being built)");
  command->callback([&context] {
    context.run = []() -> Result<int> {
      return Error{ErrorCode::kUnsupported, "report: not built into this teller", ""};
    };
  });
}

}  // namespace teller::cli
