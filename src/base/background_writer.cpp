#include "base/background_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "base/file.h"

namespace teller {

namespace {

// Appends all of `bytes`, or nothing.
Status append_whole(int fd, const std::string& path, std::string_view bytes) {
  struct stat before {};
  const bool known = fstat(fd, &before) == 0;
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      Error error = errno_error("writing " + path, errno);
      if (known && ftruncate(fd, before.st_size) == 0) lseek(fd, 0, SEEK_END);
      return error;
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace

BackgroundWriter::BackgroundWriter(std::uint64_t limit_bytes)
    : limit_bytes_(limit_bytes), thread_([this] { run(); }) {}

BackgroundWriter::~BackgroundWriter() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BackgroundWriter::submit(Job job) {
  {
    const std::lock_guard lock(mutex_);
    File& file = files_[job.fd];
    if (!file.status && !job.closes) return;
    ++file.waiting;
    waiting_bytes_ += job.bytes.size();
    jobs_.push_back(std::move(job));
  }
  changed_.notify_all();
}

void BackgroundWriter::append(int fd, const std::string& path, std::string bytes) {
  if (!bytes.empty()) submit({fd, path, std::move(bytes), false});
}

void BackgroundWriter::replace(const std::string& path, std::string content) {
  submit({kReplaced, path, std::move(content), false});
}

void BackgroundWriter::close_file(int fd, const std::string& path) {
  submit({fd, path, "", true});
}

void BackgroundWriter::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty() && !at_work_; });
}

Status BackgroundWriter::finish(int fd) {
  std::unique_lock lock(mutex_);
  const auto found = files_.find(fd);
  if (found == files_.end()) return {};
  changed_.wait(lock, [&] { return found->second.waiting == 0; });
  Status status = std::move(found->second.status);
  files_.erase(found);
  return status;
}

Status BackgroundWriter::status() const {
  const std::lock_guard lock(mutex_);
  return first_failure_;
}

bool BackgroundWriter::full() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_ >= limit_bytes_;
}

// `lock` is held before and after, and not while the disk is at work.
void BackgroundWriter::carry_out(const Job& job, std::unique_lock<std::mutex>& lock) {
  const bool wanted = static_cast<bool>(files_[job.fd].status);
  // The number may be given out anew as soon as it is closed: it must be forgotten by then.
  if (job.closes) files_.erase(job.fd);
  lock.unlock();
  Status done;
  if (job.closes) {
    if (close(job.fd) != 0) done = errno_error("writing " + job.path, errno);
  } else if (wanted) {
    done = job.fd == kReplaced ? write_file_atomic(job.path, job.bytes)
                               : append_whole(job.fd, job.path, job.bytes);
  }
  lock.lock();
  if (!done && first_failure_) first_failure_ = done;
  if (job.closes) return;
  File& file = files_[job.fd];
  if (!done) file.status = std::move(done);
  --file.waiting;
  waiting_bytes_ -= job.bytes.size();
}

void BackgroundWriter::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    at_work_ = true;
    carry_out(job, lock);
    at_work_ = false;
    changed_.notify_all();
  }
}

}  // namespace teller
