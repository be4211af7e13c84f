#include "cli/stop_on_signal.h"

namespace teller::cli {

namespace {

std::atomic<bool> g_asked{false};
std::atomic<int> g_signal{SIGINT};

void ask_to_stop(int signal);

// Whichever of them comes next ends the command.
void let_go() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction current {};
    sigaction(number, nullptr, &current);
    if (current.sa_handler != ask_to_stop) continue;
    current.sa_handler = SIG_DFL;
    sigaction(number, &current, nullptr);
  }
}

void ask_to_stop(int signal) {
  g_signal.store(signal);
  g_asked.store(true);
  let_go();
}

}  // namespace

StopOnSignal::StopOnSignal() {
  g_asked.store(false);
  struct sigaction action {};
  action.sa_handler = ask_to_stop;
  sigaction(SIGINT, &action, &interrupt_);
  sigaction(SIGTERM, &action, &terminate_);
  sigaction(SIGHUP, nullptr, &hang_up_);
  if (hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &interrupt_, nullptr);
  sigaction(SIGTERM, &terminate_, nullptr);
  sigaction(SIGHUP, &hang_up_, nullptr);
}

const std::atomic<bool>& StopOnSignal::asked() {
  return g_asked;
}

int StopOnSignal::exit_code() {
  return 128 + g_signal.load();
}

}  // namespace teller::cli
