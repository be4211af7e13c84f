// teller eval: judges a model on labelled runs.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/learn_library.h"
#include "cli/put_json.h"
#include "run_folder/output_file.h"

namespace teller::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFooter =
    "Runs need labels and tokens of the model's vocabulary. Runs that the model was trained or\n"
    "validated on are refused. Steps that differ from their twin by less than the tolerance "
    "(weak), or\n"
    "only because the fault changed the run before (affected), are counted and not scored.\n\n"
    "Examples:\n"
    "  teller eval held-out/run-* --model models/default\n"
    "  teller eval held-out/run-* --json --per-step steps.jsonl     for other tools\n";

struct Options {
  EvalOptions eval;
  bool json = false;
};

double at(const Json& json, const char* key) {
  return json[key].get<double>();
}

void print_view(const char* name, const Json& view) {
  const Json& s = view["step"];
  if (s["positives"] == 0 && s["negatives"] == 0) return;
  std::printf("%s view: %llu abnormal and %llu normal steps\n", name,
              s["positives"].get<unsigned long long>(), s["negatives"].get<unsigned long long>());
  std::printf(
      "  step       accuracy %.3f  precision %.3f  recall %.3f  F1 %.3f  AUROC %.3f  AUPRC %.3f\n",
      at(s, "accuracy"), at(s, "precision"), at(s, "recall"), at(s, "f1"), at(s, "auroc"),
      at(s, "auprc"));
  for (const auto& [key, label] : {std::pair{"macro", "Macro "}, {"macro_plus", "Macro+"}}) {
    const Json& o = view["operators"][key];
    std::printf("  operators  %s  precision %.3f  F1 %.3f  Jaccard %.3f\n", label,
                at(o, "precision"), at(o, "f1"), at(o, "jaccard"));
  }
}

void print_classes(const char* name, const Json& scores) {
  if (scores["count"] == 0) return;
  std::printf("fault type per %s: %llu, accuracy %.3f  macro recall %.3f  macro F1 %.3f\n", name,
              scores["count"].get<unsigned long long>(), at(scores, "accuracy"),
              at(scores, "macro_recall"), at(scores, "macro_f1"));
}

void print_confusion(const Json& result) {
  std::puts("runs, truth (rows) against said (columns):");
  std::printf("  %-16s", "");
  for (const Json& name : result["classes"]) std::printf("%15s", name.get<std::string>().c_str());
  std::putchar('\n');
  for (std::size_t row = 0; row + 1 < result["classes"].size(); ++row) {
    std::printf("  %-16s", result["classes"][row].get<std::string>().c_str());
    for (const Json& count : result["run"]["confusion"][row]) {
      std::printf("%15llu", count.get<unsigned long long>());
    }
    std::putchar('\n');
  }
}

void print_result(const Json& result) {
  std::printf("%llu runs, model %s\n", result["runs"].get<unsigned long long>(),
              printable(result["model"]["name"].get<std::string>()).c_str());
  print_view("vertical", result["vertical"]);
  print_view("horizontal", result["horizontal"]);
  print_classes("run", result["run"]);
  print_classes("request", result["request"]);
  const Json& first = result["request_first"];
  if (first["runs"] != 0) {
    std::printf("the one request hit comes first: %llu of %llu runs\n",
                first["right"].get<unsigned long long>(), first["runs"].get<unsigned long long>());
  }
  print_confusion(result);
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("eval", "Judge a model on labelled runs");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->eval.runs, "run folders with labels and tokens")->required();
  command->add_option("--model", options->eval.bundle, "folder of the bundle");
  command->add_option("--per-step", options->eval.per_step_file,
                      "write a JSON line per step: what is true, what is said");
  command->add_flag("--allow-seen", options->eval.allow_seen,
                    "accept runs that the model was trained on");
  command->add_option("--threads", options->eval.threads, "threads")
      ->check(CLI::Range(1, kMostThreads))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print one JSON document");
  command->footer(kFooter);
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> {
      const std::string& steps = options->eval.per_step_file;
      if (!steps.empty()) TELLER_CHECK_OK(check_output_file(steps));
      TELLER_TRY(Learn * learn, load_learn());
      TELLER_TRY(options->eval.bundle, find_model(options->eval.bundle));
      TELLER_TRY(const JsonResult result, learn->evaluate(options->eval));
      if (options->json) {
        put_json(*result);
      } else {
        print_result(*result);
      }
      return 0;
    };
  });
}

}  // namespace teller::cli
