#include "cli/commands.h"

#include <string_view>

namespace teller::cli {

namespace {

// CLI11 takes an empty text for the number 0, and commands an empty path for none: what a script
// left empty would be answered as if it had not been asked. These two check their own values.
void refuse_empty_values(CLI::App& app) {
  const auto check = [](const std::string& text) {
    return text.empty() ? std::string("its value is empty") : std::string();
  };
  for (CLI::App* command : app.get_subcommands(nullptr)) {
    const std::string_view name = command->get_name();
    if (name == "trace" || name == "trigger") continue;
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_max() > 0) option->check(CLI::Validator(check, ""));
    }
  }
}

}  // namespace

void add_all(CLI::App& app, Context& context) {
  add_trace(app, context);
  add_trigger(app, context);
  add_snapshot(app, context);
  add_import(app, context);
  add_merge(app, context);
  add_reconstruct(app, context);
  add_simulate(app, context);
  add_slice(app, context);
  add_tpe_train(app, context);
  add_encode(app, context);
  add_train(app, context);
  add_diagnose(app, context);
  add_eval(app, context);
  add_report(app, context);
  add_stats(app, context);
  add_dump(app, context);
  add_verify(app, context);
  add_hooks(app, context);
  add_doctor(app, context);
  refuse_empty_values(app);
}

}  // namespace teller::cli
