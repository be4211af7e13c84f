// teller trace
#include <map>
#include <memory>
#include <string>

#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/validators.h"

namespace teller::cli {

namespace {

constexpr const char* kDescription = "Run a program, unchanged, and record what it does";

constexpr const char* kFooter =
    "Everything after -- is the program's. Its output, exit status and results stay as they are.\n"
    "What was captured reaches the disk every 250 ms (the flush period).\n"
    "Exit status: the program's; 2 for options that make no sense, 125 if teller could not start "
    "it,\n"
    "126 if it cannot be executed, 127 if it is not there. See docs/trace.md.\n\n"
    "Examples:\n"
    "  teller trace -- python serve.py --port 8000\n"
    "  teller trace -o RUN --hooks my_engine.json --log server.log -- ./start.sh\n"
    "  teller trace -o RUN --level operators -- python train.py\n"
    "  teller trace -o RUN --duration 60 --max-size 2G -- vllm serve MODEL\n"
    "  teller trace --log 'logs/*.log' --metrics http://localhost:9000/metrics -- ./start.sh\n"
    "  teller trace --redact-pattern 'cust-[0-9]+' -- python serve.py\n"
    "  teller trace -o RUN --last 60s --trigger-log 'CUDA error|OutOfMemory' --trigger-slow-step 5 "
    "-- vllm serve MODEL\n"
    "  srun teller trace -o runs/%h-%r -- python train.py    (%h host, %r rank, %p pid)\n";

// "60", "60s", "2m", "500ms", "1h" as seconds.
CLI::Validator as_seconds() {
  const std::map<std::string, double> units{{"ms", 0.001}, {"s", 1}, {"m", 60}, {"h", 3600}};
  return CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME");
}

constexpr double kMaxSeconds = 1e7;  // some months
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 60;

void add_window_options(CLI::App* command, capture::CaptureOptions* options) {
  const std::string group = "Flight recorder (docs/flight_recorder.md)";
  auto* last =
      command
          ->add_option("--last", options->last_s,
                       "keep only the newest TIME in memory (60s, 5m); write it at the end, and at "
                       "each trigger: teller trigger RUN, SIGUSR2 to the recorder, or what follows")
          ->transform(as_seconds())
          ->check(between(0.1, kMaxSeconds))
          ->group(group);
  command
      ->add_option("--trigger-log", options->trigger_log,
                   "trigger when a log line matches this regular expression (RE2); may be given "
                   "more than once")
      ->expected(1)
      ->take_all()
      ->needs(last)
      ->group(group);
  command
      ->add_option("--trigger-slow-step", options->trigger_slow_step,
                   "trigger when an engine step takes more than this many times the median")
      ->check(between(1, 1e9))
      ->needs(last)
      ->group(group);
  command
      ->add_option("--after", options->after_s, "write so long after a trigger (default: at once)")
      ->transform(as_seconds())
      ->check(between(0, kMaxSeconds))
      ->needs(last)
      ->group(group);
  command
      ->add_option("--keep", options->keep,
                   "triggered windows that stay; the oldest goes first (default: 16)")
      ->check(CLI::Range(1u, 100000u))
      ->needs(last)
      ->group(group);
  command
      ->add_option("--window-memory", options->window_bytes,
                   "memory for the window; what does not fit is forgotten early (default: 256M)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{1} << 16, std::uint64_t{1} << 40))
      ->needs(last)
      ->group(group);
}

void add_context_options(CLI::App* command, capture::CaptureOptions* options) {
  command->add_flag_callback(
      "--redact", [options] { options->redact = true; },
      "keep secrets and prompts out of the run: the default (docs/logs.md)");
  command->add_flag_callback(
      "--no-redact", [options] { options->redact = false; }, "keep them in it");
  command
      ->add_option("--redact-pattern", options->redact_patterns,
                   "also redact what this regular expression (RE2) matches; may be given more than "
                   "once")
      ->expected(1)
      ->take_all();
  command->add_flag_callback(
      "--no-context", [options] { options->context = false; },
      "sample no processes, host, GPUs and engine metrics (docs/context.md)");
  command
      ->add_option("--metrics", options->metrics_urls,
                   "scrape this Prometheus endpoint each second; may be given more than once")
      ->expected(1)
      ->take_all();
  command->add_flag_callback(
      "--no-metrics", [options] { options->find_metrics = false; },
      "do not look for the metrics of engines that the program starts");
  command->add_flag("--metrics-all", options->all_metrics,
                    "keep every series of the metrics, not only requests, KV cache and tokens");
}

void add_options(CLI::App* command, capture::CaptureOptions* options, bool* no_hooks,
                 bool* no_cuda) {
  command->add_option("-o,--output", options->output,
                      "run folder to write (default: runs/<program>-<time>)");
  command->add_flag("--overwrite", options->overwrite, "replace a run that is there");
  command
      ->add_option("--hooks", options->hook_files,
                   "file of further hook targets (docs/hooks.md); may be given more than once")
      ->expected(1)
      ->take_all();
  command
      ->add_option(
          "--level", options->level,
          "what the Python hooks record: engine (steps and their records), frontend (also the\n"
          "functions around and below them), operators (also PyTorch's operators)")
      ->check(CLI::IsMember({"engine", "frontend", "operators"}))
      ->capture_default_str();
  command->add_flag("--no-hooks", *no_hooks, "do not load the Python hooks");
  command
      ->add_option("--log", options->log_files,
                   "also follow this log file, or the files of a pattern ('logs/*.log'), across "
                   "rotation; may be given more than once")
      ->expected(1)
      ->take_all();
  add_context_options(command, options);
  command->add_flag("--preload", options->preload,
                    "LD_PRELOAD the collector, so that every process announces itself");
  command
      ->add_option("--cuda", options->cuda,
                   "what CUPTI records: full, kernels (no runtime and driver calls), off")
      ->check(CLI::IsMember({"full", "kernels", "off"}))
      ->capture_default_str();
  command
      ->add_option("--cuda-graph", options->cuda_graph,
                   "launches of CUDA graphs: each as a whole (graph), or kernel by kernel (node)")
      ->check(CLI::IsMember({"graph", "node"}))
      ->capture_default_str();
  command->add_flag("--no-cuda", *no_cuda,
                    "as --cuda off: leave CUPTI alone (for programs that profile themselves)");
  command->add_flag(
      "--split-output", options->split_output,
      "tell stdout from stderr even where both are one file (their order may change)");
  command
      ->add_option("--max-size", options->max_bytes,
                   "stop recording when the run has this size (bytes, or 64K, 10M, 2G)")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{0}, kMaxBytes));
  command
      ->add_option("--duration", options->duration_s,
                   "stop recording after this TIME (60, 60s, 5m); the program goes on")
      ->transform(as_seconds())
      ->check(between(0, kMaxSeconds));
  add_window_options(command, options);
  command->add_flag("-q,--quiet", options->quiet, "print nothing but errors");
  command->add_flag("-v,--verbose", options->verbose, "say more");
}

}  // namespace

void add_trace(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("trace", kDescription);
  command->footer(kFooter);
  auto options = std::make_shared<capture::CaptureOptions>();
  auto no_hooks = std::make_shared<bool>(false);
  auto no_cuda = std::make_shared<bool>(false);
  add_options(command, options.get(), no_hooks.get(), no_cuda.get());
  command->callback([&context, options, no_hooks, no_cuda] {
    context.run = [&context, options, no_hooks, no_cuda]() -> Result<int> {
      if (context.target_argv.empty()) {
        return Error{ErrorCode::kUsage, "trace: no program given",
                     "usage: teller trace [OPTIONS] -- PROGRAM [ARGUMENTS...]"};
      }
      options->argv = context.target_argv;
      options->hooks = !*no_hooks;
      if (*no_cuda) options->cuda = "off";
      return capture::capture(*options);
    };
  });
}

}  // namespace teller::cli
