// teller doctor: says what could be traced here.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "capture/capture.h"
#include "cli/commands.h"
#include "cli/put_json.h"
#include "doctor/doctor.h"

namespace teller::cli {

namespace {

constexpr const char* kFooter =
    "Takes a small trace in a temporary folder, and looks at limits, disk, Python, GPU libraries "
    "and\n"
    "the tools that teller snapshot uses. Each line says ok, warning or missing, and what to do.\n"
    "Exit code 0 if tracing can work, 1 otherwise.\n\n"
    "Examples:\n"
    "  teller doctor\n"
    "  teller doctor --json\n";

struct Options {
  bool json = false;
  bool nvtx_client = false;
};

Result<int> run_doctor(const Options& options) {
  if (options.nvtx_client) return run_nvtx_client();
  std::error_code error;
  DoctorOptions doctor;
  doctor.executable = std::filesystem::read_symlink("/proc/self/exe", error).string();
  const capture::Parts parts = capture::find_parts();
  doctor.library = parts.library;
  doctor.python_hooks = parts.python_hooks;
  const nlohmann::ordered_json document = examine(doctor);
  if (options.json) {
    put_json(document);
  } else {
    std::fputs(doctor_text(document).c_str(), stdout);
  }
  return document["can_trace"].get<bool>() ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("doctor", "Say what could be traced here, and what is missing");
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "one JSON document");
  command->add_flag("--nvtx-client", options->nvtx_client)->group("");  // the self-test's program
  command->footer(kFooter);
  command->callback(
      [&context, options] { context.run = [options] { return run_doctor(*options); }; });
}

}  // namespace teller::cli
