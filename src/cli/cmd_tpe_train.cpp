// teller tpe-train: learns the vocabulary of trace tokens.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "run_folder/output_file.h"
#include "tpe/tpe.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "Merges the pairs of neighbouring symbols that are most frequent, until the vocabulary is "
    "full:\n"
    "docs/tpe.md. The same runs give the same file.\n\n"
    "Examples:\n"
    "  teller tpe-train HEALTHY FAULTY -o tpe.json             from the slices of two runs\n"
    "  teller tpe-train runs/* -o tpe.json --vocab-size 1024   a larger one\n"
    "  teller tpe-train --symbols FILE -o tpe.json             from plain sequences, one a line\n"
    "  teller encode RUN --vocab tpe.json                      then use it\n";

struct Options {
  std::vector<std::string> runs;
  std::string symbols;
  std::string output;
  std::string view = "both";
  TpeTrainOptions train;
  bool json = false;
};

void print_summary(const Options& options, const TpeTrainSummary& s) {
  if (options.json) {
    nlohmann::ordered_json json;
    json["vocab"] = options.output;
    json["vocab_size"] = options.train.vocab_size;
    json["sequences"] = s.sequences;
    json["symbols_read"] = s.symbols_read;
    json["distinct_symbols"] = s.distinct;
    json["symbols"] = s.symbols_kept;
    json["merges"] = s.merges;
    json["tokens"] = s.tokens;
    put_json(json);
    return;
  }
  const auto number = [](std::uint64_t n) { return std::to_string(n); };
  const std::string text = "read " + number(s.sequences) + " sequences of " +
                           number(s.symbols_read) + " symbols, " + number(s.distinct) +
                           " different\nlearnt " + number(s.symbols_kept) + " symbols and " +
                           number(s.merges) + " merges: " + number(s.tokens) +
                           " tokens remain\nvocabulary: " + printable(options.output);
  std::puts(text.c_str());
}

Error usage(const std::string& why) {
  return {ErrorCode::kUsage, "tpe-train: " + why, "see teller tpe-train --help"};
}

Result<int> run_command(Options& options) {
  if (options.runs.empty() == options.symbols.empty()) {
    return usage("give either run folders or --symbols FILE");
  }
  if (options.view == "vertical") options.train.view = View::kVertical;
  if (options.view == "horizontal") options.train.view = View::kHorizontal;
  TELLER_CHECK_OK(check_output_file(options.output));
  TELLER_TRY(const TpeTrainSummary summary,
             options.symbols.empty()
                 ? tpe_train(options.runs, options.output, options.train)
                 : tpe_train_symbols(options.symbols, options.output, options.train));
  print_summary(options, summary);
  return 0;
}

}  // namespace

void add_tpe_train(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("tpe-train", "Learn the vocabulary of trace tokens");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->runs, "run folders, sliced");
  command->add_option("--symbols", options->symbols, "plain sequences, one a line, blanks between")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "where the vocabulary goes")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--vocab-size", options->train.vocab_size,
                   "specials, symbols and merges together")
      ->type_name("N")
      ->capture_default_str();
  command->add_option("--view", options->view, "which units to learn from")
      ->check(CLI::IsMember({"vertical", "horizontal", "both"}))
      ->type_name("vertical|horizontal|both")
      ->capture_default_str();
  command->add_flag("--whole-step", options->train.whole_step,
                    "learn from whole trees in place of slices");
  command->add_flag("--json", options->json, "print the counts as JSON");
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_command(*options); }; });
}

}  // namespace teller::cli
