// teller report: shows a run to people and machines.
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/validators.h"
#include "report/report.h"
#include "run_folder/output_file.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "Examples:\n"
    "  teller report RUN                   verdict, what stands out, requests, the slowest step's "
    "chain\n"
    "  teller report RUN --request req-3   this request's steps, and the chain of its slowest\n"
    "  teller report RUN --step 118        the chain of this step\n"
    "  teller report RUN --json -o FILE    the same content for machines\n\n"
    "The verdict is given by teller diagnose, what stands out is found by teller slice; "
    "docs/report.md says what each part means.\n";

struct Options {
  std::string run;
  std::string output;
  bool json = false;
  int width = 0;
  ReportOptions report;
};

// More columns than any terminal has: wider tables are but blanks.
constexpr int kMostColumns = 10'000;

// Terminals tell their width; else COLUMNS; else 100.
int find_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const int width = columns == nullptr ? 0 : std::atoi(columns);
  return width > 0 && width <= kMostColumns ? width : 100;
}

TextStyle find_style(const Options& options) {
  const char* no_color = std::getenv("NO_COLOR");
  TextStyle style;
  style.color = options.output.empty() && isatty(STDOUT_FILENO) == 1 &&
                (no_color == nullptr || *no_color == '\0');
  style.width = options.width > 0 ? options.width : find_width();
  return style;
}

Result<int> write(const Options& options) {
  if (!options.output.empty()) TELLER_CHECK_OK(check_output_file(options.output));
  TELLER_TRY(const RunFolder run, RunFolder::open(options.run));
  TELLER_TRY(const nlohmann::ordered_json document, build_report(run, options.report));
  // JSON in ASCII, so that nothing in it can steer a terminal either.
  const std::string text =
      options.json
          ? document.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n"
          : report_text(document, find_style(options));
  if (!options.output.empty()) {
    TELLER_CHECK_OK(write_file_atomic(options.output, text));
    return 0;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    return Error{ErrorCode::kIo, "writing the report: it could not be written", ""};
  }
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("report", "Show a run: the verdict, what stands out, requests, chains");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder, reconstructed")->required();
  command->add_flag("--json", options->json, "one JSON document in place of text");
  command->add_option("-o,--output", options->output, "write to FILE")->type_name("FILE");
  command->add_option("--request", options->report.request, "show this request")->type_name("ID");
  command
      ->add_option("--step", options->report.step, "show the chain of this step (engine's number)")
      ->type_name("N");
  command->add_option("--lines", options->report.max_chain_lines, "most lines of the chain's tree")
      ->capture_default_str();
  command->add_option("--log-lines", options->report.max_log_lines, "most log lines")
      ->capture_default_str();
  command->add_option("--width", options->width, "columns (default: the terminal's)")
      ->check(between(1, kMostColumns));
  command->footer(kFooter);
  command->callback([&context, options] { context.run = [options] { return write(*options); }; });
}

}  // namespace teller::cli
