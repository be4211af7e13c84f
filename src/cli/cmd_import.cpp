// teller import: makes a run folder from traces of other tools.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "cli/stop_on_signal.h"
#include "importers/importers.h"

namespace teller::cli {
namespace {

constexpr const char* kHelp =
    "Makes a run folder from traces and logs that other tools wrote.\n\n"
    "Reads PyTorch profiler (Kineto) JSON, PyTorch execution traces and OpenTelemetry JSON, "
    "plain,\n"
    "gzip or zstd, Nsight Systems SQLite exports (nsys export --type sqlite), and dumps of "
    "PyTorch's\n"
    "NCCL flight recorder (pickle or JSON). A folder or a tar archive (plain, gzip or zstd) "
    "stands\n"
    "for the traces and logs in it. What a file is, is found by what it holds.";

constexpr const char* kExamples =
    "Examples:\n"
    "  teller import trace.json.gz -o RUN                 one process\n"
    "  teller import rank*.json.gz -o RUN                 one file per rank, one run\n"
    "  teller import job.tar.gz -o RUN                    the same ranks from an archive, or a "
    "folder\n"
    "  teller import trace.json server.log -o RUN         with the log of the same program\n"
    "  teller import profile.sqlite --log serve.log --log-timezone Europe/Berlin -o RUN\n"
    "  teller import /tmp/nccl_trace_rank_* -o RUN        flight recorder dumps, one per rank\n"
    "  teller import trace.json.gz spans.jsonl -o RUN     requests as the engine reported them\n"
    "  teller import cut.json --allow-truncated -o RUN    keep what is whole";

// Below this size an import is over before a progress line would be read; but a small file can
// inflate to a large one, so that what takes this long shows one too.
constexpr std::uint64_t kProgressFrom = 50u << 20;
constexpr std::chrono::seconds kProgressAfter{2};
constexpr std::size_t kShownSkipped = 20;

// One line on a terminal, rewritten as the import goes on.
class ProgressLine {
 public:
  void show(const std::string& name, std::uint64_t done, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (total == 0 || (total < kProgressFrom && now - begin_ < kProgressAfter)) return;
    const std::uint64_t percent = done * 100 / total;
    if (open_ && percent == last_percent_) return;
    last_percent_ = percent;
    std::fprintf(stderr, "\r%s: %3llu %% of %llu MiB", printable(name).c_str(),
                 static_cast<unsigned long long>(percent),
                 static_cast<unsigned long long>((total + (1u << 20) - 1) >> 20));
    open_ = true;
  }

  // What is said next stands on a line of its own.
  void end() {
    if (open_) std::fputc('\n', stderr);
    open_ = false;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::uint64_t last_percent_ = 0;
  bool open_ = false;
};

void print_source(const std::string& name, const SourceResult& source) {
  const SourceCounts& counts = source.counts;
  std::printf(
      "%s: %s, %llu records = %llu events + %llu metadata + %llu flows + %llu duplicates"
      " + %llu malformed + %llu unknown\n",
      printable(name).c_str(), source.dialect.c_str(),
      static_cast<unsigned long long>(counts.records),
      static_cast<unsigned long long>(counts.events),
      static_cast<unsigned long long>(counts.metadata),
      static_cast<unsigned long long>(counts.flows),
      static_cast<unsigned long long>(counts.duplicates),
      static_cast<unsigned long long>(counts.malformed),
      static_cast<unsigned long long>(counts.unknown_total()));
}

void warn_about(const std::string& name, const SourceResult& source) {
  if (source.counts.truncated) {
    log_warning(name + ": " + source.truncated_reason + "; what is whole was kept");
  }
  for (const std::string& note : source.notes) log_warning(name + ": " + note);
  if (source.counts.records == 0) log_warning(name + ": it holds no events");
}

void print_containers(const ImportSummary& summary) {
  for (const ContainerCounts& one : summary.containers) {
    std::printf(
        "%s: %s, %llu members = %llu traces + %llu logs + %llu copies + %llu archives"
        " + %llu other files + %llu folders + %llu links and devices\n",
        printable(one.label).c_str(), one.archive ? "archive" : "folder",
        static_cast<unsigned long long>(one.members), static_cast<unsigned long long>(one.traces),
        static_cast<unsigned long long>(one.logs), static_cast<unsigned long long>(one.copies),
        static_cast<unsigned long long>(one.archives), static_cast<unsigned long long>(one.others),
        static_cast<unsigned long long>(one.folders), static_cast<unsigned long long>(one.links));
  }
}

// What is there, and what is not: silence is no sign of health.
void print_layers(const ImportSummary& summary) {
  const SourceLayers layers = summary.all_layers();
  const std::uint64_t requests = summary.requests();
  std::printf("layers: %s", layers.words().c_str());
  if (requests > 0) std::printf(", %llu requests", static_cast<unsigned long long>(requests));
  std::printf("\n");
  for (const std::string& gap : layers.gaps(requests)) std::printf("missing: %s\n", gap.c_str());
  for (const LogFileSummary& log : summary.logs) {
    std::printf("%s: log, %s\n", printable(log.name).c_str(), log.words().c_str());
  }
}

void print_skipped(const ImportSummary& summary) {
  if (summary.skipped.empty()) return;
  std::printf("skipped: %zu files\n", summary.skipped.size());
  for (std::size_t i = 0; i < std::min(summary.skipped.size(), kShownSkipped); ++i) {
    std::printf("  %s: %s\n", printable(summary.skipped[i].label).c_str(),
                printable(summary.skipped[i].why).c_str());
  }
  if (summary.skipped.size() > kShownSkipped) std::printf("  … (--json lists all)\n");
}

void print_summary(const ImportSummary& summary) {
  std::uint64_t records = 0;
  std::uint64_t kept = 0;
  std::uint64_t mended = 0;
  for (std::size_t i = 0; i < summary.sources.size(); ++i) {
    const SourceResult& source = summary.sources[i];
    print_source(summary.names[i], source);
    records += source.counts.records;
    kept += source.counts.records - source.counts.malformed - source.counts.unknown_total();
    mended += source.counts.repaired + source.counts.clipped;
  }
  const double share =
      records == 0 ? 100.0 : 100.0 * static_cast<double>(kept) / static_cast<double>(records);
  std::printf("coverage: %llu of %llu records understood (%.2f %%), %llu mended, %llu log lines\n",
              static_cast<unsigned long long>(kept), static_cast<unsigned long long>(records),
              share, static_cast<unsigned long long>(mended),
              static_cast<unsigned long long>(summary.log_lines));
  print_layers(summary);
  print_containers(summary);
  print_skipped(summary);
  std::printf("run: %s\n", printable(summary.run).c_str());
}

Result<int> run_import(ImportOptions& options, bool json) {
  const StopOnSignal guard;
  ProgressLine line;
  if (isatty(STDERR_FILENO) != 0) {
    options.progress = [&](const std::string& name, std::uint64_t done, std::uint64_t total) {
      line.show(name, done, total);
    };
  }
  options.stop = &StopOnSignal::asked();
  auto imported = import_files(options);
  line.end();
  if (!imported) return imported.error();
  const ImportSummary& summary = *imported;
  for (std::size_t i = 0; i < summary.sources.size(); ++i) {
    warn_about(summary.names[i], summary.sources[i]);
  }
  for (const std::string& note : summary.notes) log_warning(note);
  if (json) {
    put_json(summary.to_json(), -1);
  } else {
    print_summary(summary);
  }
  return 0;
}

}  // namespace

void add_import(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("import", kHelp);
  command->footer(kExamples);
  auto options = std::make_shared<ImportOptions>();
  auto json = std::make_shared<bool>(false);
  command->add_option("FILE", options->inputs, "traces, folders or archives of them, logs")
      ->required();
  command->add_option("-o,--output", options->output, "run folder to make")->required();
  command->add_option("--log", options->logs, "log file to add (repeatable)")
      ->allow_extra_args(false);
  command
      ->add_option("--log-timezone", options->log_zones,
                   "[LOG=]ZONE: where lines state no zone (UTC, +02:00, Europe/Berlin; repeatable)")
      ->allow_extra_args(false);
  command->add_flag(
      "!--no-logs", options->found_logs,
      "leave out the logs in folders and archives (those that are named are read all the same)");
  command->add_flag("--overwrite", options->overwrite, "replace a run that is there");
  command->add_flag("--allow-truncated", options->allow_truncated,
                    "keep the whole events of a trace that stops before its end");
  command->add_flag("--json", *json, "print one JSON object");
  command->callback([&context, options, json] {
    context.run = [options, json]() -> Result<int> { return run_import(*options, *json); };
  });
}

}  // namespace teller::cli
