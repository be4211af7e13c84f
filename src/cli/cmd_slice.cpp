// teller slice: finds what deviates in a run.
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/put_json.h"
#include "run_folder/output_file.h"
#include "slice/slice.h"

namespace teller::cli {

namespace {

constexpr int kExitFindings = 10;

constexpr const char* kFooter =
    "Exit code 0 whether or not something stands out; with --fail-on-findings 10 if it does.\n"
    "What is computed, and what each option means: docs/localise.md and docs/slice.md.\n\n"
    "Examples:\n"
    "  teller slice RUN --baseline HEALTHY         compare with a healthy run of the same "
    "deployment\n"
    "  teller slice RUN --baseline A --baseline B  with several: what is usual is known better\n"
    "  teller slice HEALTHY --save-baseline FILE   keep what is usual; then slice RUN --baseline "
    "FILE\n"
    "  teller slice RUN                            requests with their batch-mates only\n"
    "  teller slice RUN --baseline HEALTHY --fail-on-findings --json\n"
    "  teller report RUN                           then look at it\n";

struct Options {
  std::string run;
  SliceOptions slice;
  bool json = false;
  bool fail_on_findings = false;
  double tau0_us = slice_detail::RelevanceWeights{}.tau_ns / 1000;
};

using Json = nlohmann::ordered_json;

// Names come from the traced program: nothing in them may steer the terminal.
std::string printable(const Json& text) {
  const std::string quoted = text.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.is_string() ? quoted.substr(1, quoted.size() - 2) : quoted;
}

void print_reason(const Json& reason) {
  std::printf("    - %s\n", printable(reason["text"]).c_str());
}

void print_summary(const Json& findings) {
  const bool suspicious = findings["verdict"]["suspicious"];
  const bool judged = findings["verdict"]["judged"];
  std::puts(suspicious ? "Something stands out:"
            : judged
                ? "Nothing stands out."
                : "Nothing could be judged: no schedule, and no expected value for any operator.");
  for (const Json& request : findings["requests"]) {
    std::printf("  request %s (score %.1f)\n", printable(request["id"]).c_str(),
                request["score"].get<double>());
    for (const Json& reason : request["reasons"]) print_reason(reason);
  }
  if (!findings["run"].empty()) std::puts("  the run");
  for (const Json& reason : findings["run"]) print_reason(reason);
  for (const Json& op : findings["operators"]) {
    if (!op["suspicious"]) continue;
    std::printf("  operator %s %s (phase: %s): %s", printable(op["layer"]).c_str(),
                printable(op["family"]).c_str(), printable(op["phase"]).c_str(),
                printable(op["kind"]).c_str());
    if (op["kind"] == "slower") {
      std::printf(", x%.1f of the baseline", op["effect"]["ratio"].get<double>());
    }
    std::putchar('\n');
  }
  for (const Json& note : findings["notes"]) std::printf("  note: %s\n", printable(note).c_str());
  std::printf("  %s\n", printable(findings["verdict"]["note"]).c_str());
}

void print_slices(const SliceResult& result) {
  std::printf("  slices: %zu units (%zu with a suspicious node), %zu of %zu nodes kept\n",
              result.units, result.suspicious_units, result.kept_nodes, result.whole_nodes);
  if (result.over_limit > 0) {
    std::printf("  %zu nodes were left out by --max-nodes\n", result.over_limit);
  }
}

Json slices_json(const SliceResult& result) {
  return {{"units", result.units},
          {"horizontal_units", result.horizontal_units},
          {"suspicious_units", result.suspicious_units},
          {"whole_nodes", result.whole_nodes},
          {"kept_nodes", result.kept_nodes},
          {"over_limit", result.over_limit}};
}

void add_thresholds(CLI::App& command, SliceOptions& options) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->group("Thresholds");
  };
  add("--min-ratio", options.min_ratio,
      "a request's operator is slow from this ratio to its mates");
  add("--min-family-ratio", options.min_family_ratio,
      "a family is slow from this ratio to the baseline");
  add("--min-run-ratio", options.min_run_ratio, "the run is slow from this ratio to the baseline");
  add("--min-z", options.min_z, "and from this many standard errors");
  add("--min-steps", options.min_steps, "and if it was compared in this many steps");
  add("--min-passed-over", options.min_passed_over, "steps in which a request is passed over");
  add("--min-preemptions", options.min_preemptions, "preemptions of a request");
  add("--min-baseline-steps", options.min_baseline_steps, "steps that an expected value needs");
  add("--max-instances", options.max_instances, "deviating instances to keep");
}

void add_cutting(CLI::App& command, Options& options) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    command.add_option(name, value, text)->capture_default_str()->group("Slices");
  };
  SliceOptions& slice = options.slice;
  add("--suspicion-z", slice.suspicion_z, "an instance is suspicious from this deviation on");
  add("--alpha", slice.weights.alpha, "relevance of a suspicious node");
  add("--beta", slice.weights.beta, "of its parent and children");
  add("--gamma", slice.weights.gamma, "of what lies close to it in time");
  add("--eta", slice.weights.eta, "of what communication ties to it");
  add("--tau0", options.tau0_us, "microseconds in which closeness in time fades to 1/e");
  add("--kappa", slice.weights.kappa, "nodes stay from this relevance on");
  add("--ancestors", slice.weights.ancestors, "levels of ancestors that stay");
  add("--skeleton-levels", slice.skeleton_levels,
      "levels below STEP that a step without suspicion keeps");
  add("--max-nodes", slice.max_nodes, "nodes of one slice at most");
}

}  // namespace

void add_slice(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("slice", "Find what deviates in a run");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder, reconstructed")->required();
  command
      ->add_option("--baseline", options->slice.baselines,
                   "a healthy run of the same deployment, reconstructed (may be repeated), or one "
                   "baseline file")
      ->type_name("RUN")
      ->expected(1)
      ->take_all();
  command
      ->add_option("--save-baseline", options->slice.save_baseline,
                   "write what was learnt from the --baseline runs, or from the run itself where "
                   "there are none, to this file")
      ->type_name("FILE");
  command
      ->add_option("--baseline-name", options->slice.baseline_name,
                   "name of the entry in that file [the first healthy run's name]")
      ->type_name("NAME");
  command->add_flag("--json", options->json,
                    "print the findings as one JSON document, with counts of the slices");
  command->add_flag("--fail-on-findings", options->fail_on_findings,
                    "exit with 10 if something stands out");
  add_thresholds(*command, options->slice);
  add_cutting(*command, *options);
  command->footer(kFooter);
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> {
      const std::string& baseline = options->slice.save_baseline;
      if (!baseline.empty()) TELLER_CHECK_OK(check_output_file(baseline));
      TELLER_TRY(RunFolder run, RunFolder::open(options->run));
      options->slice.weights.tau_ns = options->tau0_us * 1000;
      TELLER_TRY(const SliceResult result, slice(run, options->slice));
      if (options->json) {
        Json document = *result.findings;
        document["slices"] = slices_json(result);
        put_json(document);
      } else {
        print_summary(*result.findings);
        print_slices(result);
      }
      return result.suspicious && options->fail_on_findings ? kExitFindings : 0;
    };
  });
}

}  // namespace teller::cli
