#include "capture/start.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "capture/capture.h"

namespace teller::capture {

namespace {

// Signals that somebody may send to us and means for the program.
constexpr int kForwarded[] = {SIGHUP,  SIGINT,   SIGQUIT, SIGTERM,   SIGUSR1,
                              SIGUSR2, SIGCONT,  SIGALRM, SIGVTALRM, SIGPROF,
                              SIGTSTP, SIGWINCH, SIGIO,   SIGURG,    SIGPWR};

std::vector<char*> pointers(std::vector<std::string>& items) {
  std::vector<char*> list;
  for (std::string& item : items) list.push_back(item.data());
  list.push_back(nullptr);
  return list;
}

// In the child: becomes the program. Only returns errno, if that failed.
int become_program(StartRequest& request) {
  for (const Channel& channel : request.channels) {
    if (channel.serves_stdout) dup2(channel.target_end, 1);
    if (channel.serves_stderr) dup2(channel.target_end, 2);
  }
  sigaction(SIGPIPE, &request.signals.original_pipe, nullptr);
  sigaction(SIGCHLD, &request.signals.original_child, nullptr);
  sigprocmask(SIG_SETMASK, &request.signals.original_mask, nullptr);
  std::vector<char*> argv = pointers(request.argv);
  std::vector<char*> variables = pointers(request.variables);
  execve(request.path.c_str(), argv.data(), variables.data());
  if (errno != ENOEXEC) return errno;
  // A script without #!, which shells run with sh.
  std::vector<char*> script{const_cast<char*>("sh"), request.path.data()};
  script.insert(script.end(), argv.begin() + 1, argv.end());
  execve("/bin/sh", script.data(), variables.data());
  return errno;
}

}  // namespace

void take_signals(Signals* signals) {
  sigemptyset(&signals->waited);
  for (const int number : kForwarded) sigaddset(&signals->waited, number);
  sigaddset(&signals->waited, SIGCHLD);
  sigprocmask(SIG_BLOCK, &signals->waited, &signals->original_mask);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;  // our last lines may find no reader
  sigaction(SIGPIPE, &action, &signals->original_pipe);
  action.sa_handler = SIG_DFL;  // an ignored SIGCHLD would take the exit status from us
  sigaction(SIGCHLD, &action, &signals->original_child);
}

int start_program(StartRequest request) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -errno;
  const pid_t pid = fork();
  if (pid < 0) return -errno;
  if (pid == 0) {
    const int error = become_program(request);
    if (write(report[1], &error, sizeof error) < 0) _exit(kExitTellerFailed);
    _exit(kExitNotExecutable);
  }
  close(report[1]);
  for (const Channel& channel : request.channels) close(channel.target_end);
  int error = 0;
  ssize_t count = 0;
  do {
    count = read(report[0], &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  close(report[0]);
  if (count != static_cast<ssize_t>(sizeof error)) return pid;
  waitpid(pid, nullptr, 0);
  return -error;
}

}  // namespace teller::capture
