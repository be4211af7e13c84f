// teller train: trains a model on labelled, encoded runs.
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/learn_library.h"
#include "cli/put_json.h"
#include "slice/slice.h"

namespace teller::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Runs need labels (teller simulate, or your own: docs/labels.md) and tokens (teller encode).\n"
    "The bundle is replaced whenever the validation runs are judged better than before: whoever\n"
    "reads it sees a whole one, and Ctrl-C or a kill leaves the last good one.\n\n"
    "Examples:\n"
    "  teller train data/run-* --vocab tpe.json --baseline baseline.json -o models/mine\n"
    "  teller train data/run-* --vocab tpe.json -o models/paper --paper    the paper's encoder\n"
    "  teller eval other/run-* --model models/mine                         then judge it\n";

volatile std::sig_atomic_t stop_asked = 0;

void ask_to_stop(int) {
  stop_asked = 1;
}

struct Options {
  TrainOptions train;
  bool json = false;
  bool quiet = false;
};

void add_shape(CLI::App& command, TrainOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->group("Model");
  };
  add("--width", o.width, "width of the model");
  add("--graph-layers", o.graph_layers, "graph layers");
  add("--blocks", o.blocks, "blocks of the mixture of transformers");
  add("--heads", o.heads, "attention heads");
  command.add_flag("--paper", o.paper, "the paper's own encoder, pooling and mask")->group("Model");
  command
      .add_flag("!--without-deviations", o.deviations,
                "leave rows and deviations out of the inputs")
      ->group("Model");
}

void add_training(CLI::App& command, TrainOptions& o) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->capture_default_str()->group("Training");
  };
  add("--seed", o.seed, "of weights, split and draws");
  add("--epochs", o.epochs, "passes over the runs");
  add("--batch", o.batch, "steps per optimiser step");
  add("--units-per-run", o.units_per_run,
      "abnormal and normal steps each, drawn per run and epoch");
  add("--validation-share", o.validation_share, "of the runs, for thresholds and calibration");
  add("--learning-rate", o.learning_rate, "at its highest");
  add("--threads", o.threads, "threads; another number may give other last digits")
      ->check(CLI::Range(1, kMostThreads));
}

Result<int> run_train(Options& options) {
  TELLER_TRY(Learn * learn, load_learn());
  if (!options.train.baseline.empty()) {
    TELLER_CHECK_OK(check_baseline_file(options.train.baseline));
  }
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends at once
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  options.train.stop = [] { return stop_asked != 0; };
  if (!options.quiet) {
    options.train.progress = [](const std::string& line) {
      std::fprintf(stderr, "teller: %s\n", printable(line).c_str());
    };
  }
  TELLER_TRY(const JsonResult report, learn->train(options.train));
  if (options.json) {
    put_json(*report);
  } else {
    std::printf("%s\n", printable((*report)["path"].get<std::string>()).c_str());
  }
  return stop_asked != 0 ? exit_code(ErrorCode::kInterrupted) : 0;
}

}  // namespace

void add_train(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("train", "Train a model on labelled runs");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->train.runs, "run folders with labels and tokens")->required();
  command->add_option("-o,--output", options->train.output, "folder of the bundle")->required();
  command
      ->add_option("--vocab", options->train.vocabulary,
                   "vocabulary that the runs were encoded with")
      ->required();
  command->add_option("--baseline", options->train.baseline,
                      "baseline file to put into the bundle (teller slice --save-baseline)");
  command->add_option("--name", options->train.name, "name of the bundle");
  command->add_flag("--json", options->json, "print what was measured as one JSON document");
  command->add_flag("-q,--quiet", options->quiet, "no progress");
  add_training(*command, options->train);
  add_shape(*command, options->train);
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_train(*options); }; });
}

}  // namespace teller::cli
