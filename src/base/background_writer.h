// Writes to files from a thread of its own, so that a disk that stalls does not hold up whoever has
// the data.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "teller/result.h"

namespace teller {

// append() and the questions may be called while the thread writes; from one thread only.
class BackgroundWriter {
 public:
  // full() says so from `limit_bytes` on; nothing is refused by itself.
  explicit BackgroundWriter(std::uint64_t limit_bytes);
  // Writes what is left.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Appends `bytes` to the file behind `fd`, called `path` in errors. Never waits. After the first
  // failure the file is cut to what was whole before, and what comes later for it is thrown away.
  void append(int fd, const std::string& path, std::string bytes);
  // Publishes `content` as `path`, as write_file_atomic() does. Never waits.
  void replace(const std::string& path, std::string content);
  // Closes `fd` once all bytes for it are written. Never waits; what fails shows in status().
  void close_file(int fd, const std::string& path);
  // Waits until everything that was given is done.
  void drain();
  // Waits until all bytes for `fd` are written (kReplaced: all that replace() was given). Returns
  // the first failure, and forgets the file.
  Status finish(int fd);
  static constexpr int kReplaced = -1;
  // The first failure of any file, at once.
  Status status() const;
  // More is waiting than there should be: the disk is slower than the data.
  bool full() const;

 private:
  struct Job {
    int fd = kReplaced;
    std::string path;
    std::string bytes;
    bool closes = false;
  };
  struct File {
    std::uint64_t waiting = 0;  // jobs
    Status status;
  };
  void submit(Job job);
  void run();
  void carry_out(const Job& job, std::unique_lock<std::mutex>& lock);

  std::uint64_t limit_bytes_;
  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::map<int, File> files_;
  std::uint64_t waiting_bytes_ = 0;
  bool at_work_ = false;  // on a job that is not among them any more
  Status first_failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace teller
