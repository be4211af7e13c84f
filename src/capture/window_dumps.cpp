#include "capture/window_dumps.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/file.h"
#include "capture/channel.h"
#include "capture/control_socket.h"

namespace teller::capture {

namespace fs = std::filesystem;

namespace {

std::string numbered(std::size_t number, TriggerKind kind) {
  char text[32];
  std::snprintf(text, sizeof text, "%04zu-", number);
  return text + std::string(name_of(kind));
}

std::string read_report(int fd) {
  std::string text;
  char buffer[4096];
  ssize_t count = 0;
  while ((count = read(fd, buffer, sizeof buffer)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

void answer_all(const WindowDumps::Written& written, const std::string& path) {
  nlohmann::ordered_json line;
  if (written.error.empty()) {
    line["run"] = path;
  } else {
    line["error"] = written.error;
  }
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  for (const int connection : written.trigger.connections) answer(connection, text);
}

}  // namespace

// First the place for it: what is to go goes before, not after.
Status WindowDumps::write_in_child(const std::string& name, const std::vector<std::string>& surplus,
                                   const std::function<Status(const std::string&)>& write) const {
  std::error_code error;
  for (const std::string& old : surplus) fs::remove_all(path_of(old), error);
  fs::create_directories(folder_, error);
  if (error) return errno_error("creating " + folder_, error.value());
  const std::string part = folder_ + "/." + name + ".part";
  fs::remove_all(part, error);
  Status written = write(part);
  if (written) {
    fs::rename(part, path_of(name), error);
    if (error) written = errno_error("renaming " + part, error.value());
  }
  if (!written) fs::remove_all(part, error);
  return written;
}

void WindowDumps::start(Trigger trigger, const std::function<Status(const std::string&)>& write) {
  pending_ = {numbered(next_++, trigger.kind), std::move(trigger), ""};
  const std::size_t too_many = names_.size() + 1 > keep_ ? names_.size() + 1 - keep_ : 0;
  const auto first_kept = names_.begin() + static_cast<std::ptrdiff_t>(too_many);
  const std::vector<std::string> surplus(names_.begin(), first_kept);
  int ends[2] = {-1, -1};
  child_ = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
  if (child_ == 0) {
    // Nothing of the program's may live on here: who waits for its end shall see it.
    close_inherited({ends[1]});
    prctl(PR_SET_NAME, "teller-dump");
    setpriority(PRIO_PROCESS, 0, 10);
    const Status written = write_in_child(pending_.name, surplus, write);
    if (!written) {
      const std::string& message = written.error().message;
      if (::write(ends[1], message.data(), std::min<std::size_t>(message.size(), 4000)) < 0)
        _exit(2);
    }
    _exit(written ? 0 : 1);
  }
  if (child_ < 0)
    pending_.error = errno_error("starting a child to write the window", errno).message;
  if (ends[1] >= 0) close(ends[1]);
  report_ = ends[0];
}

bool WindowDumps::take_written(Written* written) {
  if (child_ < 0 && pending_.error.empty()) return false;
  if (child_ > 0) {
    int status = 0;
    const pid_t ended = waitpid(child_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
    const std::string reported = read_report(report_);
    if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      pending_.error = reported.empty() ? "the child that wrote the window died" : reported;
    }
  }
  if (report_ >= 0) close(report_);
  report_ = -1;
  child_ = -1;
  // Those that made room for it are gone, whatever became of it.
  std::erase_if(names_, [this](const std::string& name) {
    std::error_code error;
    return !fs::exists(path_of(name), error);
  });
  if (pending_.error.empty()) names_.push_back(pending_.name);
  answer_all(pending_, path_of(pending_.name));
  *written = std::exchange(pending_, {});
  return true;
}

bool WindowDumps::wait_written(int limit_ms, Written* written) {
  constexpr int kPauseMs = 10;
  for (int waited = 0; waited < limit_ms; waited += kPauseMs) {
    if (take_written(written)) return true;
    usleep(kPauseMs * 1000);
  }
  if (child_ <= 0) return false;
  pending_.error = "it took longer than " + std::to_string(limit_ms / 1000) + " s at the end";
  kill(child_, SIGKILL);
  // One that hangs in the kernel cannot be waited for either.
  child_ = -1;
  return take_written(written);
}

}  // namespace teller::capture
