// teller hooks: what the Python hooks would wrap.
#include <memory>

#include "capture/capture.h"
#include "cli/commands.h"

namespace teller::cli {

namespace {

struct Options {
  std::string python = "python3";
  std::vector<std::string> files;
  std::vector<std::string> sites;
  bool json = false;
};

constexpr const char* kCheckFooter =
    "FILE is a hook file (docs/hooks.md) or the name of one that comes with teller (teller hooks "
    "list).\n"
    "The packages' source is read; nothing of it is imported or executed.\n"
    "Exit code: 0 if every target is there, 1 if some are not or cannot be told, 2 if a file is "
    "wrong.\n\n"
    "Examples:\n"
    "  teller hooks check vllm_v1 --python .venv/bin/python\n"
    "  teller hooks check my_engine.json --site unpacked/ --json\n";

Result<int> run_tool(const char* command, const Options& options) {
  std::vector<std::string> arguments{command};
  if (options.json) arguments.push_back("--json");
  for (const std::string& site : options.sites) {
    arguments.push_back("--site");
    arguments.push_back(site);
  }
  arguments.insert(arguments.end(), options.files.begin(), options.files.end());
  return capture::run_hooks_tool(options.python, arguments);
}

void add_check(CLI::App* hooks, Context& context) {
  CLI::App* command = hooks->add_subcommand(
      "check", "Say which targets of hook files exist in the installed packages");
  command->footer(kCheckFooter);
  auto options = std::make_shared<Options>();
  command->add_option("FILE", options->files, "hook files")->required();
  command->add_option("--python", options->python, "the Python whose packages are looked at")
      ->capture_default_str();
  command
      ->add_option("--site", options->sites,
                   "look in this folder of packages, and nowhere else; may be given more than once")
      ->expected(1)
      ->take_all();
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> { return run_tool("check", *options); };
  });
}

void add_list(CLI::App* hooks, Context& context) {
  CLI::App* command = hooks->add_subcommand("list", "Show the hook files that come with teller");
  command->footer("Example:\n  teller hooks list\n");
  auto options = std::make_shared<Options>();
  command->add_option("--python", options->python, "a Python to run this with")
      ->capture_default_str();
  command->add_flag("--json", options->json, "one JSON document");
  command->callback([&context, options] {
    context.run = [options]() -> Result<int> { return run_tool("list", *options); };
  });
}

}  // namespace

void add_hooks(CLI::App& app, Context& context) {
  CLI::App* hooks = app.add_subcommand("hooks", "Show what the Python hooks wrap, and check it");
  hooks->require_subcommand(1);
  hooks->footer(
      "Examples:\n  teller hooks list\n  teller hooks check vllm_v1 --python .venv/bin/python\n");
  add_check(hooks, context);
  add_list(hooks, context);
}

}  // namespace teller::cli
