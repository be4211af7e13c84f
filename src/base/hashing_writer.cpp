#include "base/hashing_writer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace teller {

namespace {
// More than this does not wait: memory stays bounded where the disk is slower than the data.
constexpr std::size_t kMostWaiting = 8u << 20;
constexpr std::size_t kMostSpare = 4;
// A larger buffer is given back to the system.
constexpr std::size_t kMostSpareBytes = 4u << 20;
// Hashed right after it is written, while it is still near the processor.
constexpr std::size_t kWriteBytes = 256u << 10;
}  // namespace

HashingWriter::HashingWriter(int fd, std::string path) : fd_(fd), path_(std::move(path)) {
  spare_.reserve(kMostSpare);  // so that the thread need not allocate
  thread_ = std::thread([this] { run(); });
}

HashingWriter::~HashingWriter() {
  stop();
  if (fd_ >= 0) close(fd_);
}

Status HashingWriter::append(ByteBuffer bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_bytes_ < kMostWaiting || !status_; });
  if (!status_) return status_;
  waiting_bytes_ += bytes.size();
  waiting_.push_back(std::move(bytes));
  changed_.notify_all();
  return {};
}

ByteBuffer HashingWriter::spare() {
  const std::lock_guard lock(mutex_);
  if (spare_.empty()) return {};
  ByteBuffer buffer = std::move(spare_.back());
  spare_.pop_back();
  buffer.clear();
  return buffer;
}

Status HashingWriter::finish() {
  stop();
  const int fd = std::exchange(fd_, -1);
  const bool closed = close(fd) == 0;
  if (!status_) return status_;
  if (!closed) return errno_error("writing " + path_, errno);
  digest_ = hash_.hex();
  return {};
}

void HashingWriter::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HashingWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    ByteBuffer bytes = std::move(waiting_.front());
    waiting_.pop_front();
    const bool wanted = static_cast<bool>(status_);
    lock.unlock();
    Status done = wanted ? write_all(bytes.view()) : Status{};
    lock.lock();
    if (!done) status_ = std::move(done);
    waiting_bytes_ -= bytes.size();
    if (spare_.size() < kMostSpare && bytes.size() <= kMostSpareBytes)
      spare_.push_back(std::move(bytes));
    changed_.notify_all();
  }
}

Status HashingWriter::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd_, bytes.data(), std::min(bytes.size(), kWriteBytes));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path_, errno);
    const auto size = static_cast<std::size_t>(done);
    hash_.update(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return {};
}

}  // namespace teller
