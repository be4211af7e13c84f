// teller simulate: makes runs of simulated engines, with labels.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "cli/validators.h"
#include "simulate/simulate.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "A simulated run is what `trace` would have recorded, plus labels.jsonl, which alone says "
    "what\n"
    "was wrong. The same options give the same bytes. What is modelled: docs/simulate.md; how "
    "steps\n"
    "are labelled: docs/labels.md.\n\n"
    "Examples:\n"
    "  teller simulate -o runs/s7 --seed 7                            a healthy run\n"
    "  teller simulate -o runs/s8 --seed 8 --fault kv_pinned          with a fault\n"
    "  teller simulate -o runs/s9 --seed 9 --fault slow_attention --magnitude 0.9 --request req-3\n"
    "  teller simulate --list                                         what can be wrong\n"
    "  teller simulate --data-set sets/a --runs 200 --seed 1 --faulty-share 0.6\n";

using Json = nlohmann::ordered_json;

struct Options {
  SimulateOptions run;
  DataSetOptions set;
  bool list = false;
  bool json = false;
};

std::atomic<bool> stop_wanted{false};

void print_list(bool json) {
  for (const MechanismText& one : simulate_mechanisms()) {
    if (json) {
      put_json({{"name", one.name},
                {"category", one.category},
                {"resource", one.resource},
                {"stacks", one.stacks},
                {"words", one.words}},
               -1);
      continue;
    }
    std::string stacks;
    for (const std::string& stack : one.stacks) stacks += (stacks.empty() ? "" : ", ") + stack;
    std::printf("%-18s %-15s %s (acts on: %s; stacks: %s)\n", one.name.c_str(),
                one.category.c_str(), one.words.c_str(), one.resource.c_str(), stacks.c_str());
  }
}

Result<int> make_run(const Options& options) {
  if (options.run.output.empty()) {
    return Error{ErrorCode::kUsage, "simulating a run: no folder to write to",
                 "give one with -o RUN, or --data-set DIR for many runs"};
  }
  TELLER_TRY(const SimulateSummary made, simulate_run(options.run));
  if (options.json) {
    put_json({{"run", made.run},
              {"steps", made.steps},
              {"cause", made.cause_steps},
              {"weak", made.weak_steps},
              {"affected", made.affected_steps},
              {"events", made.events},
              {"log_lines", made.log_lines}},
             -1);
    return 0;
  }
  std::printf(
      "run %s: %llu steps, %llu events, %llu log lines; steps labelled cause %llu, weak %llu, "
      "affected %llu\n",
      printable(made.run).c_str(), static_cast<unsigned long long>(made.steps),
      static_cast<unsigned long long>(made.events), static_cast<unsigned long long>(made.log_lines),
      static_cast<unsigned long long>(made.cause_steps),
      static_cast<unsigned long long>(made.weak_steps),
      static_cast<unsigned long long>(made.affected_steps));
  return 0;
}

// The options of a single run, which a data set draws for each of its runs.
bool asks_for_one_run(const SimulateOptions& run) {
  const SimulateOptions usual;
  const bool one = !run.output.empty() || run.stack != usual.stack || run.fault != usual.fault ||
                   run.magnitude != usual.magnitude || run.from_step || run.to_step ||
                   !run.request.empty() || run.rank;
  const bool load = run.requests || run.clients || run.max_prompt || run.max_output || run.blocks ||
                    run.max_seqs || run.token_budget || run.ranks || run.steps;
  return one || load;
}

Result<int> make_set(const Options& options) {
  if (asks_for_one_run(options.run)) {
    return Error{ErrorCode::kUsage,
                 "simulating a data set: it draws fault and load of each run itself",
                 "of the options of a run, --data-set takes --seed and --overwrite"};
  }
  std::signal(SIGINT, [](int) { stop_wanted = true; });
  const bool on_terminal = isatty(STDERR_FILENO) != 0;
  const auto progress = [&](int done) {
    if (on_terminal) std::fprintf(stderr, "\r%d of %d runs", done, options.set.runs);
  };
  const Result<int> made = simulate_data_set(options.set, progress, stop_wanted);
  std::signal(SIGINT, SIG_DFL);
  if (on_terminal) std::fputs("\n", stderr);
  if (!made) return made.error();
  if (options.json) {
    put_json({{"folder", options.set.folder}, {"runs", made.value()}}, -1);
  } else {
    std::printf("%d runs in %s\n", made.value(), printable(options.set.folder).c_str());
  }
  return 0;
}

void add_set_options(CLI::App& command, Options& options) {
  DataSetOptions& set = options.set;
  command.add_option("--data-set", set.folder, "write many runs, and runs.jsonl, to this folder")
      ->type_name("DIR");
  command.add_option("--runs", set.runs, "how many")->group("Data set");
  command.add_option("--stacks", set.stacks, "their stacks, in turn")
      ->delimiter(',')
      ->capture_default_str()
      ->group("Data set");
  command.add_option("--faulty-share", set.faulty_share, "share of runs with a fault")
      ->capture_default_str()
      ->group("Data set");
  command.add_option("--only", set.only, "draw from these mechanisms alone")
      ->delimiter(',')
      ->group("Data set");
  command.add_option("--without", set.without, "do not draw these mechanisms")
      ->delimiter(',')
      ->group("Data set");
}

void add_load_options(CLI::App& command, SimulateOptions& run) {
  const auto add = [&](const char* name, std::optional<int>& value, const char* text) {
    command.add_option(name, value, text)->group("Engine and load (default: the stack's own)");
  };
  add("--requests", run.requests, "how many requests come");
  add("--clients", run.clients, "how many clients send them");
  add("--max-prompt", run.max_prompt, "tokens of the longest prompt");
  add("--max-output", run.max_output, "tokens of the longest answer");
  add("--blocks", run.blocks, "KV blocks of the pool");
  add("--max-seqs", run.max_seqs, "requests that may run at a time");
  add("--token-budget", run.token_budget, "tokens of a step");
  add("--ranks", run.ranks, "worker processes");
  add("--steps", run.steps, "training steps");
}

}  // namespace

void add_simulate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("simulate", "Make runs of simulated engines, with labels");
  auto options = std::make_shared<Options>();
  SimulateOptions& run = options->run;
  command->add_option("-o,--output", run.output, "run folder to write")->type_name("RUN");
  command->add_flag("--overwrite", run.overwrite, "replace a run that is there");
  command->add_option("--stack", run.stack, "demo, vllm-v1 or fsdp")->capture_default_str();
  command->add_option("--seed", run.seed, "of all that is drawn")
      ->check(between(0, 18446744073709551615.0))
      ->capture_default_str();
  command->add_option("--fault", run.fault, "a mechanism of --list, or none")
      ->capture_default_str();
  command->add_option("--magnitude", run.magnitude, "0 (no effect) to 1 (obvious)")
      ->capture_default_str();
  command->add_option("--from-step", run.from_step, "first step with the fault (default: drawn)");
  command->add_option("--to-step", run.to_step, "last step with the fault (default: drawn)");
  command->add_option("--request", run.request, "whom it hits (default: drawn)");
  command->add_option("--rank", run.rank, "which rank it hits (default: drawn)");
  command->add_flag("--list", options->list, "list the mechanisms");
  command->add_flag("--json", options->json, "print JSON");
  add_load_options(*command, run);
  add_set_options(*command, *options);
  command->footer(kFooter);
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> {
      if (options->list) {
        print_list(options->json);
        return 0;
      }
      if (options->set.folder.empty()) return make_run(*options);
      options->set.seed = options->run.seed;
      options->set.overwrite = options->run.overwrite;
      return make_set(*options);
    };
  });
}

}  // namespace teller::cli
