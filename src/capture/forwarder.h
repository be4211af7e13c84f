// Passes a channel's bytes on and keeps a time-stamped copy.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "capture/channel.h"

namespace teller::capture {

// Nanoseconds of CLOCK_MONOTONIC.
std::int64_t monotonic_ns();

// Bytes as they arrived.
struct Chunk {
  std::int64_t time_ns = 0;
  std::string bytes;
};

// One thread that reads what the program writes and writes it where it would have gone. One per
// channel, so that a reader who is slow on one stream does not hold up the other, while it does
// hold up the program as it would without us. Takes over the channel's our_end and destination.
class Forwarder {
 public:
  explicit Forwarder(const Channel& channel);
  ~Forwarder();
  Forwarder(const Forwarder&) = delete;
  Forwarder& operator=(const Forwarder&) = delete;

  // What has arrived since the last call. [MT]
  std::vector<Chunk> take();
  // No more will come: the program's side is closed, or the reader's. [MT]
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  // When the channel was last found empty. [MT]
  std::int64_t last_idle_ns() const { return last_idle_ns_.load(std::memory_order_acquire); }
  // Bytes whose text was not kept, as the recorder did not come by in time. [MT]
  std::uint64_t unkept_bytes() const { return unkept_bytes_.load(std::memory_order_relaxed); }
  // Bytes that could not be passed on (the destination is a full disk, or a terminal that is gone).
  // [MT]
  std::uint64_t unforwarded_bytes() const {
    return unforwarded_bytes_.load(std::memory_order_relaxed);
  }
  const std::string& stream() const { return channel_.stream; }
  const Channel& channel() const { return channel_; }
  // The program has ended: from now on last_idle_ns() is kept up to date. [MT]
  void hurry();
  void stop_keeping() { keep_.store(false, std::memory_order_relaxed); }

 private:
  void run();
  bool step();
  bool write_all(const char* data, std::size_t size);
  void keep(std::int64_t time_ns, const char* data, std::size_t size);

  Channel channel_;
  int hurry_fd_;  // an eventfd; -1 if none could be had
  std::atomic<bool> hurried_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> keep_{true};
  std::atomic<std::int64_t> last_idle_ns_{0};
  std::atomic<std::uint64_t> unkept_bytes_{0};
  std::atomic<std::uint64_t> unforwarded_bytes_{0};
  std::mutex mutex_;  // guards chunks_ and held_bytes_
  std::deque<Chunk> chunks_;
  std::size_t held_bytes_ = 0;
  std::thread thread_;
};

}  // namespace teller::capture
