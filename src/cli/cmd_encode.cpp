// teller encode: slices become tokens.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/put_json.h"
#include "tpe/tpe.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "Protected encoding is the default: suspicious nodes, ghosts, their ancestors and the rows of "
    "the\nschedule stay single tokens, so that a merge never hides them. --plain merges "
    "everywhere, "
    "as the\npaper does. What tokens hold: docs/tpe.md.\n\n"
    "Examples:\n"
    "  teller encode RUN --vocab tpe.json                  then: teller dump RUN tokens\n"
    "  teller encode RUN --vocab tpe.json --plain --json   the paper's encoding; counts as JSON\n"
    "  teller encode --symbols FILE --vocab tpe.json --json\n"
    "                                                      ids of plain sequences\n"
    "  teller encode --decode FILE --vocab tpe.json        and back\n";

struct Options {
  std::string run;
  std::string symbols;
  std::string decode;
  EncodeOptions encode;
  bool asked_protected = false;
  bool plain = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json to_json(const EncodeCounts& c) {
  return {{"units", c.units},
          {"whole_nodes", c.whole_nodes},
          {"symbols", c.symbols},
          {"tokens", c.tokens},
          {"protected_tokens", c.protected_tokens},
          {"unknown_symbols", c.unknown},
          {"other_symbols", c.others},
          {"whole_nodes_per_unit", ratio(c.whole_nodes, c.units)},
          {"symbols_per_unit", ratio(c.symbols, c.units)},
          {"tokens_per_unit", ratio(c.tokens, c.units)},
          {"tokens_left", ratio(c.tokens, c.symbols)},
          {"protected_share", ratio(c.protected_tokens, c.tokens)}};
}

void print_json(const EncodeOptions& options, const EncodeSummary& summary) {
  Json json;
  json["vocab_sha256"] = summary.vocabulary_sha256;
  json["protected"] = options.protect;
  json["self_time"] = options.self_time;
  json["whole_step"] = options.whole_step;
  json["vertical"] = to_json(summary.views[0]);
  json["horizontal"] = to_json(summary.views[1]);
  put_json(json);
}

void print_view(const char* name, const EncodeCounts& c) {
  if (c.units == 0) return;
  std::printf(
      "%s: %llu steps; per step %.1f nodes whole, %.1f encoded, %.1f tokens\n"
      "  tokens left %.1f %%, of them protected %.1f %%; symbols unknown %llu, as their layer's "
      "other %llu\n",
      name, static_cast<unsigned long long>(c.units), ratio(c.whole_nodes, c.units),
      ratio(c.symbols, c.units), ratio(c.tokens, c.units), 100 * ratio(c.tokens, c.symbols),
      100 * ratio(c.protected_tokens, c.tokens), static_cast<unsigned long long>(c.unknown),
      static_cast<unsigned long long>(c.others));
}

Result<int> encode_run(Options& options) {
  options.encode.protect = !options.plain;
  TELLER_TRY(RunFolder run, RunFolder::open(options.run));
  TELLER_TRY(const EncodeSummary summary, encode(run, options.encode));
  if (options.json) {
    print_json(options.encode, summary);
    return 0;
  }
  if (summary.views[0].units + summary.views[1].units == 0) std::puts("the run has no steps");
  print_view("vertical", summary.views[0]);
  print_view("horizontal", summary.views[1]);
  return 0;
}

Error usage(const std::string& why) {
  return {ErrorCode::kUsage, "encode: " + why, "see teller encode --help"};
}

Result<int> run_command(Options& options) {
  const int inputs = (options.run.empty() ? 0 : 1) + (options.symbols.empty() ? 0 : 1) +
                     (options.decode.empty() ? 0 : 1);
  if (inputs != 1) return usage("give one of a run folder, --symbols FILE and --decode FILE");
  if (options.plain && options.asked_protected)
    return usage("--plain and --protected exclude each other");
  if (!options.run.empty()) return encode_run(options);
  if (!options.symbols.empty()) {
    TELLER_CHECK_OK(
        encode_symbols(options.symbols, options.encode.vocabulary, options.json, std::cout));
  } else {
    TELLER_CHECK_OK(decode_lines(options.decode, options.encode.vocabulary, std::cout));
  }
  if (!std::cout.flush()) {
    return Error{ErrorCode::kIo, "writing the output: it could not be written", ""};
  }
  return 0;
}

}  // namespace

void add_encode(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("encode", "Turn the slices of a run into tokens");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder, sliced");
  command->add_option("--vocab", options->encode.vocabulary, "vocabulary that tpe-train wrote")
      ->type_name("FILE")
      ->required();
  command->add_flag("--protected", options->asked_protected, "protected encoding (the default)");
  command->add_flag("--plain", options->plain, "merge everywhere, as the paper does");
  command->add_flag("--self-time", options->encode.self_time,
                    "durations without the time of host children");
  command->add_flag("--whole-step", options->encode.whole_step, "whole trees in place of slices");
  command->add_option("--symbols", options->symbols, "encode plain sequences, one a line")
      ->type_name("FILE");
  command->add_option("--decode", options->decode, "print the symbols of lines {\"input_ids\": …}")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "print counts, or ids, as JSON");
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_command(*options); }; });
}

}  // namespace teller::cli
