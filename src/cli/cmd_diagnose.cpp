// teller diagnose: says what kind of fault a run shows, where, and why. Makes what is missing
// first: chains, slices with the model's baseline, tokens of the model's vocabulary.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/learn_library.h"
#include "cli/put_json.h"
#include "horizontal/flight.h"
#include "horizontal/horizontal.h"
#include "reconstruct/reconstruct.h"
#include "run_folder/open_chains.h"
#include "slice/slice.h"
#include "snapshot/snapshot.h"
#include "tpe/tpe.h"
#include "vertical/vertical.h"

namespace teller::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kExitFault = 10;
constexpr std::size_t kShownSteps = 12;
constexpr std::size_t kShownOperators = 5;
constexpr std::size_t kShownEvidence = 5;

constexpr const char* kFooter =
    "Makes what the run lacks first: call chains, slices (against --baseline, or the model's own\n"
    "baseline), tokens. What is there and current is used as it is; --again makes it anew.\n"
    "The probability holds where a share --prior of all runs is abnormal.\n"
    "Ranks of a run of several are compared besides: culprit_ranks, culprit_link and uniform come\n"
    "from there (docs/horizontal.md), also in a run without steps.\n"
    "A run that teller snapshot made has no steps: it is read by rules, without a model. So is a\n"
    "run of flight recorder dumps: which ranks hold the others up.\n"
    "Exit code 0 whatever is found; with --fail-on-fault 10 if the run is abnormal.\n\n"
    "Examples:\n"
    "  teller diagnose RUN                         with the default model\n"
    "  teller diagnose RUN --baseline HEALTHY      expected times from a healthy run of the same "
    "deployment\n"
    "  teller diagnose RUN --model models/mine --json\n"
    "  teller diagnose RUN --fail-on-fault         in CI\n";

struct Options {
  std::string run;
  std::vector<std::string> baselines;
  DiagnoseOptions diagnose;
  bool json = false;
  bool again = false;
  bool fail_on_fault = false;
};

// Text from JSON that may hold names of the traced program.
std::string shown(const Json& value) {
  return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

bool is_current(const RunFolder& run, const char* artifact) {
  return static_cast<bool>(run.require_artifact(artifact));
}

// Before anything is made for it.
Status check_model(const std::string& bundle) {
  std::error_code error;
  if (std::filesystem::is_regular_file(bundle + "/" + kBundleFile, error)) return {};
  return Error{ErrorCode::kNotFound, "opening model " + bundle + ": there is no model in it",
               "give the folder that teller train wrote with --model"};
}

Status make_chains(RunFolder& run, const Options& options) {
  if (!options.again && is_current(run, "chains")) return {};
  log_info("diagnose: rebuilding the call chains");
  const auto made = reconstruct(run, {});
  return made ? Status() : Status(made.error());
}

// Whether the run's slices were compared with healthy runs, and not with the run itself.
bool has_compared_slices(const RunFolder& run) {
  if (!is_current(run, "slices")) return false;
  const Json::json_pointer from("/artifacts/slices/options/baseline/from");
  const Json& manifest = run.manifest();
  return manifest.contains(from) && manifest.at(from) != "run";
}

Status make_slices(RunFolder& run, const Options& options) {
  const std::string own = options.diagnose.bundle + "/" + kBundleBaseline;
  std::error_code error;
  const bool has_own = std::filesystem::exists(own, error);
  const bool asked = options.again || !options.baselines.empty();
  if (!asked && (has_own ? has_compared_slices(run) : is_current(run, "slices"))) return {};
  SliceOptions slice_options;
  slice_options.baselines = options.baselines;
  if (slice_options.baselines.empty() && has_own) slice_options.baselines.push_back(own);
  log_info("diagnose: finding what deviates");
  const auto made = slice(run, slice_options);
  return made ? Status() : Status(made.error());
}

// Compares the ranks of a run of several; with healthy runs, against their pace.
Status make_comparison(RunFolder& run, const Options& options) {
  const bool asked = options.again || !options.baselines.empty();
  if (!asked && is_current(run, "horizontal")) return {};
  const auto made = compare_ranks(run, {options.baselines});
  return made ? Status() : Status(made.error());
}

// Tokens are made anew always: it takes no longer than to find out whether they fit.
Status make_tokens(RunFolder& run, const Options& options) {
  EncodeOptions encode_options;
  encode_options.vocabulary = options.diagnose.bundle + "/" + kBundleVocabulary;
  const auto made = encode(run, encode_options);
  return made ? Status() : Status(made.error());
}

void print_steps(const Json& diagnosis) {
  const Json& steps = diagnosis["abnormal_steps"];
  if (steps.empty()) return;
  std::string text;
  for (const Json& step : steps) {
    if (text.size() > 0) text += ", ";
    const std::size_t left = steps.size() - kShownSteps;
    if (&step - &steps[0] == static_cast<std::ptrdiff_t>(kShownSteps)) {
      text += "… (" + std::to_string(left) + " more)";
      break;
    }
    text += step["number"].is_null() ? "#" + step["step"].dump() : step["number"].dump();
  }
  std::printf("  abnormal steps  %s\n", text.c_str());
}

template <typename Print>
void print_some(const Json& list, std::size_t most, Print&& print) {
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i) print(list[i]);
}

void print_operators(const Json& diagnosis) {
  print_some(diagnosis["operators"], kShownOperators, [](const Json& op) {
    std::printf("  operator        %s %s (score %.1f, %s steps)\n", shown(op["layer"]).c_str(),
                shown(op["name"]).c_str(), op["score"].get<double>(), op["steps"].dump().c_str());
  });
}

void print_requests(const Json& diagnosis) {
  print_some(diagnosis["requests"], kShownOperators, [](const Json& request) {
    std::printf("  request         %s (%s, score %.1f)\n", shown(request["id"]).c_str(),
                shown(request["role"]).c_str(), request["score"].get<double>());
  });
}

void print_evidence(const Json& diagnosis) {
  print_some(diagnosis["evidence"], kShownEvidence, [](const Json& one) {
    const std::string text = shown(one["text"]);
    if (!one.contains("drop")) {
      std::printf("  evidence        %s\n", text.c_str());
      return;
    }
    std::printf("  evidence        %s (log odds fall by %.2f without it)\n", text.c_str(),
                one["drop"].get<double>());
  });
}

std::string verdict_words(const Json& diagnosis) {
  const Json& abnormal = diagnosis["abnormal"];
  if (!abnormal.is_boolean()) return "none, the ranks were not compared";
  if (abnormal == true) {
    const Json& type = diagnosis["fault_type"];
    return type == "unknown" ? "abnormal, cause unknown" : shown(type);
  }
  const bool judged = diagnosis.value("judged", Json()) != false;
  return judged ? "healthy" : "none, nothing could be judged";
}

void print_diagnosis(const Json& diagnosis) {
  std::printf("verdict: %s\n", verdict_words(diagnosis).c_str());
  if (!diagnosis["probability"].is_null()) {
    std::printf("  probability of a fault  %.3g (at a prior of %.3g)\n",
                diagnosis["probability"].get<double>(), diagnosis["prior"].get<double>());
  }
  print_steps(diagnosis);
  print_requests(diagnosis);
  print_operators(diagnosis);
  if (!diagnosis["culprit_ranks"].empty()) {
    std::printf("  rank            %s\n", diagnosis["culprit_ranks"][0].dump().c_str());
  }
  print_evidence(diagnosis);
  std::printf("%s\n", shown(diagnosis["explanation"]).c_str());
}

// A snapshot has no steps: it is read by rules, and needs no model.
Result<int> read_snapshot(RunFolder& run, const Options& options) {
  TELLER_TRY(const Json diagnosis, diagnose_snapshot(run));
  if (options.json) {
    put_json(diagnosis);
  } else {
    std::fputs(snapshot_diagnosis_text(diagnosis).c_str(), stdout);
  }
  return options.fail_on_fault && diagnosis["abnormal"] == true ? kExitFault : 0;
}

// Neither have dumps of the flight recorder.
Result<int> read_flight_records(RunFolder& run, const Options& options) {
  TELLER_TRY(const Json diagnosis, diagnose_flight(run));
  if (options.json) {
    put_json(diagnosis);
  } else {
    std::fputs(flight_diagnosis_text(diagnosis).c_str(), stdout);
  }
  return options.fail_on_fault && diagnosis["abnormal"] == true ? kExitFault : 0;
}

int show(const Json& diagnosis, const Options& options) {
  if (options.json) {
    put_json(diagnosis);
  } else {
    print_diagnosis(diagnosis);
  }
  return options.fail_on_fault && diagnosis["abnormal"] == true ? kExitFault : 0;
}

// Ranks can be compared in a run without steps; a model needs them.
Result<bool> only_ranks(const RunFolder& run) {
  if (!is_current(run, "horizontal")) return false;
  TELLER_TRY(const Chains chains, open_chains(run));
  return chains.step_count() == 0;
}

Result<int> run_diagnose(Options& options) {
  TELLER_TRY(RunFolder run, RunFolder::open(options.run));
  if (is_snapshot(run)) return read_snapshot(run, options);
  if (is_flight_run(run)) return read_flight_records(run, options);
  TELLER_CHECK_OK(make_chains(run, options));
  TELLER_CHECK_OK(make_comparison(run, options));
  TELLER_TRY(const bool ranks_only, only_ranks(run));
  if (ranks_only) {
    TELLER_TRY(const Json by_ranks, diagnose_ranks(run));
    return show(by_ranks, options);
  }
  TELLER_TRY(Learn * learn, load_learn());
  TELLER_TRY(options.diagnose.bundle, find_model(options.diagnose.bundle));
  TELLER_CHECK_OK(check_model(options.diagnose.bundle));
  TELLER_CHECK_OK(make_slices(run, options));
  TELLER_CHECK_OK(make_tokens(run, options));
  TELLER_TRY(const JsonResult by_model, learn->diagnose(run, options.diagnose));
  TELLER_TRY(Json with_idle, with_device_idle(run, *by_model));
  TELLER_TRY(Json with_stalled, with_stalled_work(run, std::move(with_idle)));
  TELLER_TRY(const Json diagnosis, with_ranks(run, std::move(with_stalled)));
  TELLER_CHECK_OK(is_current(run, "horizontal") ? publish_with_ranks(run, diagnosis)
                                                : publish_with_device_idle(run, diagnosis));
  return show(diagnosis, options);
}

}  // namespace

void add_diagnose(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("diagnose", "Say what kind of fault a run shows, and where");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder")->required();
  command->add_option("--model", options->diagnose.bundle, "folder of the model");
  command
      ->add_option("--baseline", options->baselines,
                   "a healthy run of the same deployment, or a baseline file; may be repeated")
      ->type_name("RUN")
      ->expected(1)
      ->take_all();
  command->add_option("--prior", options->diagnose.prior, "share of runs that are abnormal")
      ->capture_default_str();
  command->add_option("--threads", options->diagnose.threads, "threads")
      ->check(CLI::Range(1, kMostThreads))
      ->capture_default_str();
  command->add_flag("--again", options->again, "make chains, slices and tokens anew");
  command->add_flag("--json", options->json, "print the diagnosis as one JSON document");
  command->add_flag("--fail-on-fault", options->fail_on_fault,
                    "exit with 10 if the run is abnormal");
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_diagnose(*options); }; });
}

}  // namespace teller::cli
