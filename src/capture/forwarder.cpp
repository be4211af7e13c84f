#include "capture/forwarder.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace teller::capture {

namespace {

// How often it is looked at whether a channel is empty: seldom as long as nobody asks.
constexpr int kPollMs = 20;
constexpr int kIdlePollMs = 500;
constexpr std::size_t kReadBytes = 64 << 10;
// What may wait for the recorder: a disk that hangs must not eat all memory.
constexpr std::size_t kHeldLimit = 64 << 20;

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
}

Forwarder::Forwarder(const Channel& channel)
    : channel_(channel),
      hurry_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this] { run(); }) {}

Forwarder::~Forwarder() {
  if (thread_.joinable()) thread_.join();
  if (hurry_fd_ >= 0) close(hurry_fd_);
}

void Forwarder::hurry() {
  if (hurried_.exchange(true)) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(hurry_fd_, &one, sizeof one);
}

std::vector<Chunk> Forwarder::take() {
  std::lock_guard lock(mutex_);
  std::vector<Chunk> taken(std::make_move_iterator(chunks_.begin()),
                           std::make_move_iterator(chunks_.end()));
  chunks_.clear();
  held_bytes_ = 0;
  return taken;
}

void Forwarder::run() {
  while (step()) {
  }
  // Closing our end gives the program the EPIPE that it would have got; closing the destination
  // lets its reader see the end of the stream even while the recorder lives on.
  close(channel_.our_end);
  close(channel_.destination);
  ended_.store(true, std::memory_order_release);
}

bool Forwarder::step() {
  const bool hurried = hurried_.load() || hurry_fd_ < 0;
  // Once hurried, the eventfd stays readable: it is not watched any more.
  pollfd watched[3] = {{channel_.our_end, POLLIN, 0},
                       {channel_.destination, 0, 0},
                       {hurried ? -1 : hurry_fd_, POLLIN, 0}};
  const int ready = poll(watched, 3, hurried ? kPollMs : kIdlePollMs);
  if (ready < 0) return errno == EINTR;
  const bool only_hurried = ready == 1 && watched[2].revents != 0;
  if (only_hurried) return true;
  if (ready == 0) {
    last_idle_ns_.store(monotonic_ns(), std::memory_order_release);
    return true;
  }
  // A terminal that hung up may come back as errors of write(), a pipe or socket without a reader
  // will not.
  if ((watched[1].revents & POLLERR) != 0 && !channel_.terminal) return false;
  if (watched[0].revents == 0) {
    const timespec pause{0, kPollMs * 1000000};
    nanosleep(&pause, nullptr);
    last_idle_ns_.store(monotonic_ns(), std::memory_order_release);
    return true;
  }
  char buffer[kReadBytes];
  const ssize_t count = read(channel_.our_end, buffer, sizeof buffer);
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;  // EIO: the last holder of a terminal left
  if (count == 0) return false;
  const std::int64_t arrival = monotonic_ns();
  const bool forwarded = write_all(buffer, static_cast<std::size_t>(count));
  keep(arrival, buffer, static_cast<std::size_t>(count));
  return forwarded;
}

// False if there is no reader any more.
bool Forwarder::write_all(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(channel_.destination, data, size);
    if (written >= 0) {
      data += written;
      size -= static_cast<std::size_t>(written);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {
      pollfd wait{channel_.destination, POLLOUT, 0};
      poll(&wait, 1, 1000);
      continue;
    }
    if (errno == EPIPE || errno == ECONNRESET) return false;
    unforwarded_bytes_.fetch_add(size, std::memory_order_relaxed);
    return true;
  }
  return true;
}

void Forwarder::keep(std::int64_t time_ns, const char* data, std::size_t size) {
  if (!keep_.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(mutex_);
  if (held_bytes_ + size > kHeldLimit) {
    unkept_bytes_.fetch_add(size, std::memory_order_relaxed);
    return;
  }
  held_bytes_ += size;
  chunks_.push_back({time_ns, std::string(data, size)});
}

}  // namespace teller::capture
