#include "base/command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/file.h"

namespace teller {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kExitNotRun = 127;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end = ends[0];
    write_end = ends[1];
    return true;
  }
  static void close_end(int& end) {
    if (end >= 0) close(std::exchange(end, -1));
  }
};

// Reads what there is; false at the end.
bool drain(int fd, std::string& text, std::size_t limit, bool& cut) {
  char buffer[16 << 10];
  const ssize_t count = read(fd, buffer, sizeof buffer);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = limit - std::min(limit, text.size());
  if (static_cast<std::size_t>(count) > room) cut = true;
  text.append(buffer, std::min(static_cast<std::size_t>(count), room));
  return count > 0;
}

// Reads both pipes until they end, the time is over, or too much has come.
void collect(Pipe& out, Pipe& err, Clock::time_point deadline, std::size_t limit,
             CommandOutput& output) {
  pollfd waits[2] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}};
  while ((waits[0].fd >= 0 || waits[1].fd >= 0) && !output.cut) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      output.timed_out = true;
      return;
    }
    if (poll(waits, 2, static_cast<int>(left)) < 0 && errno != EINTR) return;
    if (waits[0].revents != 0 && !drain(waits[0].fd, output.out, limit, output.cut))
      waits[0].fd = -1;
    if (waits[1].revents != 0 && !drain(waits[1].fd, output.err, limit, output.cut))
      waits[1].fd = -1;
  }
}

// It may have closed its output and live on.
int await_end(pid_t pid, Clock::time_point deadline, CommandOutput& output) {
  int status = 0;
  while (!output.timed_out && !output.cut) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) return -1;
    if (Clock::now() > deadline) output.timed_out = true;
    poll(nullptr, 0, 2);
  }
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return -1;
}

Result<CommandOutput> run_child(const std::function<void()>& in_child, int timeout_ms,
                                std::size_t limit_bytes) {
  Pipe out, err;
  if (!out.open() || !err.open()) return errno_error("making a pipe", errno);
  const pid_t parent = getpid();
  std::fflush(nullptr);  // what waits in buffers is ours to write, not the child's too
  const pid_t pid = fork();
  if (pid < 0) return errno_error("making a process", errno);
  if (pid == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kExitNotRun);
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, 0);
    dup2(out.write_end, 1);
    dup2(err.write_end, 2);
    in_child();
    _exit(kExitNotRun);
  }
  Pipe::close_end(out.write_end);
  Pipe::close_end(err.write_end);
  CommandOutput output;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  collect(out, err, deadline, limit_bytes, output);
  const int status = await_end(pid, deadline, output);
  if (status != -1 && WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

void write_out(const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(1, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) _exit(kExitNotRun);
    if (count > 0) done += static_cast<std::size_t>(count);
  }
}

}  // namespace

std::string find_program(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (folder.empty() || folder[0] != '/') continue;
    std::string candidate = folder + "/" + std::string(name);
    struct stat info {};
    if (stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return "";
}

Result<CommandOutput> run_command(const std::vector<std::string>& argv, int timeout_ms,
                                  std::size_t limit_bytes,
                                  const std::vector<std::string>& variables) {
  std::vector<std::string> words = argv, added = variables;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto in_child = [&] {
    for (std::string& variable : added) putenv(variable.data());
    execv(arguments[0], arguments.data());
  };
  return run_child(in_child, timeout_ms, limit_bytes);
}

Result<CommandOutput> run_isolated(const std::function<std::string()>& work, int timeout_ms,
                                   std::size_t limit_bytes) {
  const auto in_child = [&] {
    write_out(work());
    _exit(0);
  };
  return run_child(in_child, timeout_ms, limit_bytes);
}

}  // namespace teller
