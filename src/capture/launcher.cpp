// The foreground process: starts recorder and program, passes signals on, and ends as the program
// ended.
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "capture/capture.h"
#include "capture/channel.h"
#include "capture/environment.h"
#include "capture/forwarder.h"
#include "capture/log_files.h"
#include "capture/log_window.h"
#include "capture/output_keeper.h"
#include "capture/process_table.h"
#include "capture/program.h"
#include "capture/recorder.h"
#include "capture/start.h"
#include "context/context.h"
#include "redact/redact.h"
#include "run_folder/run_folder.h"

extern char** environ;

namespace teller::capture {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

struct Launch {
  CaptureOptions options;
  Program program;
  Environment environment;
  std::vector<Channel> channels;
  std::string socket_path;
  int listener = -1;
  int control = -1;
  Signals signals;
  int signal_fd = -1;
};

int fail(const Error& error, int code) {
  std::fprintf(stderr, "teller: error: %s%s%s%s\n", error.message.c_str(),
               error.hint.empty() ? "" : " (", error.hint.c_str(), error.hint.empty() ? "" : ")");
  return code;
}

std::vector<std::string> environment_now() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::string default_output(const std::string& program) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
  return "runs/" + fs::path(program).filename().string() + "-" + stamp;
}

// The rank that a launcher of distributed jobs gave this process, or "0".
std::string rank_now() {
  for (const char* name : kRankVariables) {
    const char* value = std::getenv(name);
    if (value == nullptr || value[0] == 0) continue;
    const std::string_view text(value);
    if (text.find_first_not_of("0123456789") == std::string_view::npos) return std::string(text);
  }
  return "0";
}

// %h = name of the host, %r = rank, %p = pid, %% = %: so that one command line serves all nodes.
std::string expand_output(const std::string& path) {
  utsname host{};
  uname(&host);
  std::string expanded;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
    if (next == 'h') expanded += host.nodename;
    if (next == 'r') expanded += rank_now();
    if (next == 'p') expanded += std::to_string(getpid());
    if (next == '%') expanded += '%';
    const bool known = next == 'h' || next == 'r' || next == 'p' || next == '%';
    if (!known) expanded += path[i];
    if (known) ++i;
  }
  return expanded;
}

Status check_hook_file(const std::string& path) {
  const auto text = read_file(path, "hook file", 16u << 20);
  if (!text) return Error{ErrorCode::kNotFound, text.error().message, text.error().hint};
  const Json json = Json::parse(*text, nullptr, false);
  if (json.is_object() && json.value("format", Json()) == "teller.hooks") return {};
  return Error{
      ErrorCode::kCorrupt,
      "reading hook file " + path +
          (json.is_discarded() ? ": it is not JSON"
                               : ": it is not a hook file (no \"format\": \"teller.hooks\")"),
      "see docs/hooks.md"};
}

// What the recorder writes must not be what it follows.
Status check_not_our_own(const CaptureOptions& options) {
  const std::string run = fs::absolute(options.output).lexically_normal().string();
  for (const std::string& pattern : options.log_files) {
    for (const char* name : {"/logs.jsonl", "/context.jsonl", "/processes.jsonl"}) {
      if (fnmatch(pattern.c_str(), (run + name).c_str(), FNM_PATHNAME) != 0) continue;
      return Error{ErrorCode::kUsage, "--log " + pattern + ": it would follow the run's own files",
                   "name files outside of " + options.output};
    }
  }
  return {};
}

// Files become absolute: the program may run elsewhere, and so does the recorder. kUsage for
// options that make no sense, whatever is there; other codes for what is there and can't be used.
Status prepare_options(CaptureOptions* options) {
  for (std::string& path : options->hook_files) {
    TELLER_CHECK_OK(check_hook_file(path));
    path = fs::absolute(path).string();
  }
  for (std::string& path : options->log_files) {
    if (path.empty()) return Error{ErrorCode::kUsage, "--log: the name of the file is empty", ""};
    path = fs::absolute(path).string();
  }
  TELLER_CHECK_OK(check_log_files(options->log_files));
  ContextOptions context;
  context.urls = options->metrics_urls;
  TELLER_CHECK_OK(check_context(context));
  TELLER_TRY(const Redactor redactor,
             Redactor::create({options->redact, options->redact_patterns}));
  if (options->output.empty()) options->output = default_output(options->argv[0]);
  options->output = expand_output(options->output);
  TELLER_CHECK_OK(check_not_our_own(*options));
  // Said before the program runs, not by the recorder.
  TELLER_TRY([[maybe_unused]] const LogWindow patterns, LogWindow::create(options->trigger_log));
  return {};
}

// Listens at a socket in a folder of its own below `base`, which is gone again if that fails.
Result<int> listen_below(const std::string& base, std::string* path) {
  std::string folder = base + "/teller-XXXXXX";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // "control" is the longer of the two names that go there.
  if (folder.size() + sizeof "/control" > sizeof address.sun_path) {
    return errno_error("listening below " + base, ENAMETOOLONG);
  }
  if (mkdtemp(folder.data()) == nullptr) return errno_error("creating a folder in " + base, errno);
  *path = folder + "/socket";
  std::strncpy(address.sun_path, path->c_str(), sizeof address.sun_path - 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
      listen(fd, 4096) == 0) {
    return fd;
  }
  const int error = errno;
  if (fd >= 0) close(fd);
  unlink(path->c_str());
  rmdir(folder.c_str());
  return errno_error("listening at " + *path, error);
}

// In TMPDIR if it will do (the path of a socket is short), else in /tmp.
Result<int> listen_privately(std::string* path) {
  const char* wanted = std::getenv("TMPDIR");
  if (wanted != nullptr && wanted[0] == '/') {
    if (auto listener = listen_below(wanted, path); listener) return listener;
  }
  return listen_below("/tmp", path);
}

void describe(const Launch& launch, RunFolder& run, const std::vector<std::string>& base,
              const Redactor& redactor) {
  RedactCounts counted_with_processes;
  std::vector<std::string> variables = recorded_variables(base);
  for (std::string& variable : variables) {
    variable = redactor.text(variable, counted_with_processes);
  }
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  const std::int64_t unix_ns = static_cast<std::int64_t>(real.tv_sec) * 1000000000 + real.tv_nsec;
  const std::int64_t now = monotonic_ns();
  utsname host{};
  uname(&host);
  std::error_code error;
  Json& manifest = run.manifest();
  manifest["target"] = {{"argv", redactor.arguments(launch.options.argv, counted_with_processes)},
                        {"program", launch.program.path},
                        {"cwd", fs::current_path(error).string()},
                        {"environment", variables},
                        {"start", now},
                        {"exit_code", nullptr},
                        {"signal", nullptr}};
  manifest["clock"] = {
      {"unit", "ns"}, {"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", unix_ns - now}};
  std::tm local{};
  localtime_r(&real.tv_sec, &local);
  manifest["host"] = {{"name", host.nodename},
                      {"kernel", host.release},
                      {"machine", host.machine},
                      {"utc_offset_s", local.tm_gmtoff}};
  manifest["redaction"] = {{"on", launch.options.redact},
                           {"patterns", launch.options.redact_patterns.size()}};
  manifest["trace"] = {
      {"flush_period_ms", kFlushPeriodMs},       {"max_bytes", launch.options.max_bytes},
      {"duration_s", launch.options.duration_s}, {"hooks", launch.options.hook_files},
      {"level", launch.options.level},           {"logs", launch.options.log_files},
      {"notes", launch.environment.notes}};
  if (launch.options.last_s > 0) {
    manifest["trace"]["last_s"] = launch.options.last_s;
    manifest["trace"]["window_bytes"] = launch.options.window_bytes;
    manifest["trace"]["trigger_slow_step"] = launch.options.trigger_slow_step;
    manifest["trace"]["trigger_log"] =
        redactor.arguments(launch.options.trigger_log, counted_with_processes);
  }
}

// Starts the recorder; "" or why it cannot record.
std::string start_recorder(Launch& launch, RunFolder run) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return errno_error("opening a socket pair", errno).message;
  }
  const pid_t pid = fork();
  if (pid < 0) return errno_error("starting the recorder", errno).message;
  if (pid == 0) {
    close(ends[0]);
    for (const Channel& channel : launch.channels) close(channel.target_end);
    RecorderSetup setup{launch.channels, launch.listener, ends[1], launch.socket_path,
                        launch.environment.notes};
    run_recorder(launch.options, std::move(setup), std::move(run));
  }
  close(ends[1]);
  close(launch.listener);
  launch.control = ends[0];
  Message message;
  std::string text;
  if (!receive_message(launch.control, &message, &text, true)) return "the recorder died";
  return message.kind == Message::kReady ? "" : text;
}

// Stops with the program, as a shell's job does. With the default action, because the kernel then
// knows when there is no shell that could continue us.
void stop_with_program(const Signals& signals) {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  sigprocmask(SIG_BLOCK, &signals.waited, nullptr);
}

void handle_signal(const Launch& launch, pid_t program, const signalfd_siginfo& info) {
  // What the terminal sends goes to the whole process group: the program has it already.
  const bool from_kernel = info.ssi_code == SI_KERNEL;
  if (static_cast<int>(info.ssi_signo) == SIGWINCH) {
    send_message(launch.control, {Message::kResized, 0, 0});
    return;
  }
  if (!from_kernel) kill(program, static_cast<int>(info.ssi_signo));
  if (static_cast<int>(info.ssi_signo) == SIGTSTP) stop_with_program(launch.signals);
}

void remove_socket(const Launch& launch) {
  const fs::path folder = fs::path(launch.socket_path).parent_path();
  unlink(launch.socket_path.c_str());
  unlink((folder / "control").c_str());
  rmdir(folder.c_str());
}

// Reads what the recorder says while the program runs. False if it is gone.
bool listen_to_recorder(const Launch& launch, OutputKeeper& keeper) {
  Message message;
  std::string text;
  while (receive_message(launch.control, &message, &text, false)) {
    if (message.kind == Message::kChannelEnded)
      keeper.forget(static_cast<std::size_t>(message.pid));
  }
  return errno == EAGAIN;
}

// Returns the program's wait status.
int wait_for_program(Launch& launch, pid_t program, OutputKeeper& keeper) {
  for (;;) {
    int status = 0;
    if (waitpid(program, &status, WNOHANG) == program) return status;
    pollfd watched[2] = {{launch.signal_fd, POLLIN, 0}, {launch.control, POLLIN, 0}};
    poll(watched, 2, -1);
    signalfd_siginfo info{};
    while (read(launch.signal_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      if (info.ssi_signo != SIGCHLD) handle_signal(launch, program, info);
    }
    if (launch.control < 0 || listen_to_recorder(launch, keeper)) continue;
    close(launch.control);
    launch.control = -1;    // poll() ignores it
    remove_socket(launch);  // it could not do so itself
    keeper.take_over();
  }
}

// Ends as the program did, so that whoever waits for us sees the same.
int end_like(int status, const Signals& signals) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  const int number = WTERMSIG(status);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // one core file is enough
  signal(number, SIG_DFL);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  std::fflush(nullptr);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &one, nullptr);
  sigprocmask(SIG_SETMASK, &signals.original_mask, nullptr);
  return 128 + number;
}

void print_last_lines(const Launch& launch, int status) {
  Message message;
  std::string text;
  send_message(launch.control, {Message::kExited, 0, status});
  while (launch.control >= 0 && receive_message(launch.control, &message, &text, true)) {
    if (message.kind == Message::kDone) break;
  }
  if (message.kind != Message::kDone) {
    text = "teller: the recorder died before the program ended, which was not affected; the run " +
           launch.options.output;
    text += launch.options.last_s > 0
                ? " holds nothing but windows that were triggered before: --last keeps the rest in "
                  "memory\n"
                : " holds what was written up to " + std::to_string(kFlushPeriodMs) +
                      " ms (the flush period) before\n";
  }
  if (!launch.options.quiet) std::fputs(text.c_str(), stderr);
}

void print_notes(const Launch& launch, const Parts& parts) {
  if (launch.options.quiet) return;
  for (const std::string& note : launch.environment.notes) {
    std::fprintf(stderr, "teller: %s\n", note.c_str());
  }
  if (launch.options.verbose && !parts.library.empty()) {
    std::fprintf(stderr, "teller: collector %s, hooks %s\n", parts.library.c_str(),
                 parts.python_hooks.c_str());
  }
}

Environment make_environment(const Launch& launch, const Parts& parts,
                             const std::vector<std::string>& base) {
  EnvironmentRequest request;
  request.socket = launch.socket_path;
  request.library = parts.library;
  request.python_hooks = launch.options.hooks ? parts.python_hooks : "";
  request.hook_files = launch.options.hook_files;
  request.level = launch.options.level;
  request.preload = launch.options.preload;
  request.cuda = launch.options.cuda;
  request.cuda_graph = launch.options.cuda_graph;
  Environment environment = child_environment(base, request);
  if (parts.library.empty()) {
    environment.notes.push_back(
        "libteller_collector.so was not found: only output and processes are recorded");
  } else if (launch.options.hooks && parts.python_hooks.empty()) {
    environment.notes.push_back("the Python hooks were not found: only NVTX is recorded");
  }
  return environment;
}

// Gives up what is the program's: whoever is at the other end of a pipe shall see its end when the
// program closes it, not when we end. stderr stays for the last lines.
void let_go(const Launch& launch) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, 0);
  dup2(null, 1);
  std::vector<int> ours{launch.control, launch.signal_fd};
  for (const Channel& channel : launch.channels) {
    ours.insert(ours.end(), {channel.our_end, channel.destination});
  }
  close_inherited(ours);
}

int record(Launch& launch) {
  const std::vector<std::string> base = environment_now();
  const Parts parts = find_parts();
  auto run = RunFolder::create(launch.options.output, "trace", launch.options.overwrite);
  if (!run) return fail(run.error(), kExitTellerFailed);
  auto listener = listen_privately(&launch.socket_path);
  if (!listener) return fail(listener.error(), kExitTellerFailed);
  launch.listener = *listener;
  auto channels = open_channels(launch.options.split_output);
  if (!channels) {
    remove_socket(launch);
    return fail(channels.error(), kExitTellerFailed);
  }
  launch.channels = std::move(*channels);
  launch.environment = make_environment(launch, parts, base);
  auto redactor = Redactor::create({launch.options.redact, launch.options.redact_patterns});
  if (!redactor) return fail(redactor.error(), kExitTellerFailed);
  describe(launch, *run, base, *redactor);
  if (const Status saved = run->save(); !saved) {
    remove_socket(launch);
    return fail(saved.error(), kExitTellerFailed);
  }
  print_notes(launch, parts);
  take_signals(&launch.signals);
  launch.signal_fd = signalfd(-1, &launch.signals.waited, SFD_CLOEXEC | SFD_NONBLOCK);
  if (launch.signal_fd < 0) {
    const Error error = errno_error("waiting for signals", errno);
    remove_socket(launch);
    return fail(error, kExitTellerFailed);
  }
  const std::string refusal = start_recorder(launch, std::move(*run));
  if (!refusal.empty()) {
    remove_socket(launch);
    return fail({ErrorCode::kIo, refusal, ""}, kExitTellerFailed);
  }
  const int program =
      start_program(StartRequest{launch.program.path, launch.options.argv,
                                 launch.environment.variables, launch.channels, launch.signals});
  if (program < 0) {
    close(launch.control);
    return fail(
        {ErrorCode::kIo, "running " + launch.options.argv[0] + ": " + std::strerror(-program), ""},
        program == -ENOENT ? kExitNotFound : kExitNotExecutable);
  }
  send_message(launch.control, {Message::kStarted, program, 0});
  let_go(launch);
  OutputKeeper keeper(launch.channels);
  const int status = wait_for_program(launch, program, keeper);
  keeper.drain();
  print_last_lines(launch, status);
  return end_like(status, launch.signals);
}

}  // namespace

int capture(const CaptureOptions& options) {
  fill_closed_streams();
  Launch launch;
  launch.options = options;
  launch.program = find_program(options.argv[0], std::getenv("PATH"));
  if (launch.program.exit_code != 0) {
    return fail({ErrorCode::kNotFound, launch.program.error, ""}, launch.program.exit_code);
  }
  if (const Status prepared = prepare_options(&launch.options); !prepared) {
    const bool usage = prepared.error().code == ErrorCode::kUsage;
    return fail(prepared.error(), usage ? exit_code(ErrorCode::kUsage) : kExitTellerFailed);
  }
  return record(launch);
}

}  // namespace teller::capture
