// teller's entry: splits off the target's command line, finds the subcommand, turns errors into one
// line and an exit code.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "base/part_files.h"
#include "base/terminal.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/stop_on_signal.h"

namespace teller::cli {
namespace {

constexpr const char* kDescription =
    "teller finds out what is slow, stuck or wrong in LLM serving and training.\n\n"
    "  teller trace -o RUN -- python serve.py    record a program, unchanged\n"
    "  teller snapshot PID                       look at a job that hangs now\n"
    "  teller import trace.json.gz -o RUN        or take a trace that others made\n"
    "  teller reconstruct RUN                    rebuild every request's call chains\n"
    "  teller slice RUN --baseline HEALTHY       find what deviates\n"
    "  teller diagnose RUN --baseline HEALTHY    say what kind of fault it is, and where\n"
    "  teller report RUN                         see it\n"
    "  teller doctor                             what could be traced here\n";

int print_error(const Error& error) {
  std::fprintf(stderr, "teller: error: %s", printable(error.message).c_str());
  if (!error.hint.empty()) std::fprintf(stderr, " (%s)", printable(error.hint).c_str());
  std::fputc('\n', stderr);
  if (error.code == ErrorCode::kInterrupted) return StopOnSignal::exit_code();
  return exit_code(error.code);
}

// Writes what is left of the output. A write that failed before leaves but its mark on the stream,
// and nothing to be written.
Status flush_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return {};
  return Error{ErrorCode::kIo, "writing the output: it could not be written", ""};
}

// CLI11 prints help on stdout with code 0 and mistakes on stderr; ours have one form and exit
// code 2.
int handle_parse_error(const CLI::App& app, const CLI::ParseError& error,
                       const std::string& first_word) {
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    const int code = app.exit(error);
    const Status written = flush_output();
    return written ? code : print_error(written.error());
  }
  std::string message = error.what();
  if (const auto line = message.find('\n'); line != std::string::npos) message.resize(line);
  const auto named = app.get_subcommands();
  if (named.empty() && !first_word.empty()) {
    message = first_word[0] == '-' ? "there is no option " + first_word
                                   : "there is no command " + first_word;
  }
  const std::string command = named.empty() ? "teller" : "teller " + named.front()->get_name();
  return print_error({ErrorCode::kUsage, command + ": " + message, "see " + command + " --help"});
}

// The first word that is no option: the command.
std::string_view command_word(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') return argv[i];
  }
  return "";
}

int run(int argc, char** argv) {
  Context context;
  std::vector<std::string> own;
  const bool traces = command_word(argc, argv) == "trace";
  // A limit of file sizes is told by the write that fails. The traced program keeps its signal.
  if (!traces) {
    std::signal(SIGXFSZ, SIG_IGN);
    remove_part_files_at_signals();
  }
  for (int i = 1; i < argc; ++i) {
    if (traces && !context.has_separator && std::string_view(argv[i]) == "--") {
      context.has_separator = true;
      continue;
    }
    (context.has_separator ? context.target_argv : own).emplace_back(argv[i]);
  }
  CLI::App app{kDescription, "teller"};
  app.set_version_flag("--version", std::string("teller ") + kVersion);
  app.require_subcommand(1);
  add_all(app, context);
  try {
    std::vector<std::string> reversed(own.rbegin(), own.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return handle_parse_error(app, error, own.empty() ? "" : own.front());
  }
  auto result = context.run();
  if (!result) return print_error(result.error());
  if (const Status written = flush_output(); !written) return print_error(written.error());
  return *result;
}

}  // namespace
}  // namespace teller::cli

int main(int argc, char** argv) {
  try {
    return teller::cli::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "teller: error: unexpected failure: %s (please report it)\n",
                 error.what());
  }
  return 1;
}
