// teller verify: checks that a run folder is whole.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/terminal.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "verify/verify.h"

namespace teller::cli {

namespace {

struct Options {
  std::string run;
  bool json = false;
};

void print_json(const VerifyReport& report) {
  nlohmann::ordered_json document = {{"ok", report.problems.empty()},
                                     {"state", report.state},
                                     {"artifacts", report.artifacts},
                                     {"files", report.files},
                                     {"problems", nlohmann::ordered_json::array()}};
  for (const VerifyFinding& finding : report.problems) {
    document["problems"].push_back(
        {{"artifact", finding.artifact}, {"file", finding.file}, {"problem", finding.problem}});
  }
  put_json(document, 2);
}

void print_text(const VerifyReport& report) {
  for (const VerifyFinding& finding : report.problems) {
    std::printf("%s%s%s: %s\n", printable(finding.artifact).c_str(),
                finding.file.empty() ? "" : " ", printable(finding.file).c_str(),
                printable(finding.problem).c_str());
  }
  std::printf("%zu artefacts, %zu files, %zu problems; state: %s\n", report.artifacts, report.files,
              report.problems.size(), printable(report.state).c_str());
}

}  // namespace

void add_verify(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("verify", "Check that a run folder is whole and current");
  auto options = std::make_shared<Options>();
  command->add_option("RUN", options->run, "run folder")->required();
  command->add_flag("--json", options->json, "one JSON document");
  command->footer(
      "Exit code 0 if everything is whole, 4 if something is damaged or stale.\n\n"
      "Example:\n  teller verify RUN\n");
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> {
      TELLER_TRY(const VerifyReport report, verify(options->run));
      options->json ? print_json(report) : print_text(report);
      return report.problems.empty() ? 0 : exit_code(ErrorCode::kCorrupt);
    };
  });
}

}  // namespace teller::cli
