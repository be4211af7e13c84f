#include "capture/channel.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/file.h"

namespace teller::capture {

namespace {

// A placeholder of fill_closed_streams() is not open: the program will find it closed.
bool is_open(int fd) {
  const int flags = fcntl(fd, F_GETFD);
  return flags != -1 && (flags & FD_CLOEXEC) == 0;
}

bool is_null_device(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

// Whether stdout and stderr are one open file. /dev/null is not: no order to lose there.
bool same_open_file() {
  struct stat out {};
  struct stat err {};
  if (fstat(1, &out) != 0 || fstat(2, &err) != 0) return false;
  if (is_null_device(out)) return false;
  if (out.st_dev != err.st_dev || out.st_ino != err.st_ino) return false;
  const long order = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, 1, 2);
  return order == 0 || order == -1 || isatty(1) == 1;
}

int above_standard(int fd) {
  if (fd < 0 || fd > 2) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return moved;
}

// Bytes pass unchanged: the real terminal does the output processing, once.
void make_raw(int slave, int model) {
  termios settings{};
  if (tcgetattr(model, &settings) != 0 && tcgetattr(slave, &settings) != 0) return;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  settings.c_lflag &= ~static_cast<tcflag_t>(ECHO | ECHONL);
  tcsetattr(slave, TCSANOW, &settings);
}

bool open_terminal(Channel* channel, int fd) {
  const int master = above_standard(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master < 0) return false;
  char name[128];
  int slave = -1;
  if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof name) == 0) {
    slave = above_standard(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  }
  if (slave < 0) {
    close(master);
    return false;
  }
  make_raw(slave, fd);
  channel->target_end = slave;
  channel->our_end = master;
  channel->terminal = true;
  return true;
}

Result<Channel> open_channel(int fd, std::string stream) {
  Channel channel;
  channel.stream = std::move(stream);
  channel.destination = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (channel.destination < 0) return errno_error("duplicating " + channel.stream, errno);
  // Without a pseudo-terminal (none left, no /dev/pts) a pipe still records the program.
  if (isatty(fd) != 1 || !open_terminal(&channel, fd)) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno_error("opening a pipe", errno);
    channel.our_end = above_standard(ends[0]);
    channel.target_end = above_standard(ends[1]);
  }
  copy_window_size(channel);
  return channel;
}

}  // namespace

void fill_closed_streams() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  } while (fd >= 0 && fd <= 2);
  if (fd > 2) close(fd);
}

void close_inherited(const std::vector<int>& kept) {
  std::vector<int> open_ones;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    open_ones.push_back(std::atoi(entry.path().filename().c_str()));
  }
  for (const int fd : open_ones) {
    if (fd > 2 && std::find(kept.begin(), kept.end(), fd) == kept.end()) close(fd);
  }
}

void copy_window_size(const Channel& channel) {
  winsize size{};
  if (!channel.terminal || ioctl(channel.destination, TIOCGWINSZ, &size) != 0) return;
  ioctl(channel.our_end, TIOCSWINSZ, &size);
}

Result<std::vector<Channel>> open_channels(bool split) {
  std::vector<Channel> channels;
  const bool shared = !split && same_open_file();
  if (is_open(1)) {
    TELLER_TRY(Channel channel, open_channel(1, shared ? "output" : "stdout"));
    channel.serves_stdout = true;
    channel.serves_stderr = shared;
    channels.push_back(std::move(channel));
  }
  if (is_open(2) && !shared) {
    TELLER_TRY(Channel channel, open_channel(2, "stderr"));
    channel.serves_stderr = true;
    channels.push_back(std::move(channel));
  }
  return channels;
}

}  // namespace teller::capture
