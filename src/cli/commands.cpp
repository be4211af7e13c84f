#include "cli/commands.h"

namespace teller::cli {

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
}

}  // namespace teller::cli
