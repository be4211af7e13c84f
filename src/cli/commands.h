// The subcommands: each lives in cmd_<name>.cpp and is listed once in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::cli {

// What main() hands to every subcommand.
struct Context {
  std::vector<std::string> target_argv;  // what followed the first "--" on the command line (trace)
  bool has_separator = false;            // whether there was a "--"
  // Set by the subcommand that was named; returns the process's exit code.
  std::function<Result<int>()> run;
};

void add_trace(CLI::App& app, Context& context);
void add_trigger(CLI::App& app, Context& context);
void add_snapshot(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_reconstruct(CLI::App& app, Context& context);
void add_simulate(CLI::App& app, Context& context);
void add_slice(CLI::App& app, Context& context);
void add_tpe_train(CLI::App& app, Context& context);
void add_encode(CLI::App& app, Context& context);
void add_train(CLI::App& app, Context& context);
void add_diagnose(CLI::App& app, Context& context);
void add_eval(CLI::App& app, Context& context);
void add_report(CLI::App& app, Context& context);
void add_stats(CLI::App& app, Context& context);
void add_dump(CLI::App& app, Context& context);
void add_verify(CLI::App& app, Context& context);
void add_hooks(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);

// Adds every subcommand to `app`, in the order of the data path.
void add_all(CLI::App& app, Context& context);

}  // namespace teller::cli
