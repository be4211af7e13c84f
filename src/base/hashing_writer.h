// Writes one file front to back from a thread of its own, and hashes what it writes: whoever makes
// the data goes on meanwhile, and nobody has to read the file again for its digest.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/byte_buffer.h"
#include "base/xxh128.h"
#include "teller/result.h"

namespace teller {

// For one thread besides its own.
class HashingWriter {
 public:
  // Takes over `fd`, which is open for writing at its end and called `path` in errors.
  HashingWriter(int fd, std::string path);
  // Writes what is left, unless finish() did, and closes.
  ~HashingWriter();
  HashingWriter(const HashingWriter&) = delete;
  HashingWriter& operator=(const HashingWriter&) = delete;

  // Appends `bytes`. Waits while the disk is too far behind. After the first failed write every
  // call returns that error and nothing more is written.
  Status append(ByteBuffer bytes);
  // An empty buffer, of memory that append() was given before where there is some.
  ByteBuffer spare();
  // Waits until all is written, and closes the file.
  Status finish();
  // XXH3-128 of all that was written, as 32 hexadecimal digits; after finish().
  const std::string& digest() const { return digest_; }

 private:
  void run();
  Status write_all(std::string_view bytes);
  void stop();

  int fd_;
  std::string path_;
  Xxh128 hash_;
  std::string digest_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<ByteBuffer> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<ByteBuffer> spare_;
  Status status_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace teller
