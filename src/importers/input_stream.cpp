#include "importers/input_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/sha256.h"
#include "importers/inflater.h"

namespace teller {

namespace {

constexpr std::size_t kPiecesAhead = 4;

Error not_regular(const std::string& action, mode_t mode) {
  if (S_ISDIR(mode)) {
    return {ErrorCode::kUsage, action + ": it is a folder", "give the trace file itself"};
  }
  return {ErrorCode::kUsage, action + ": it is not a regular file", "copy the trace to a file"};
}

}  // namespace

// The thread that reads, hashes and inflates, and the queue between it and the consumer.
struct InputStream::Reader {
  int fd = -1;
  std::unique_ptr<Inflater> inflater;  // null for a plain file
  std::string path;
  InputOptions options;
  std::atomic<std::uint64_t> bytes_read{0};
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> pieces;  // guarded by mutex
  bool finished = false;           // guarded by mutex
  bool abandoned = false;          // guarded by mutex
  std::optional<Error> failure;    // guarded by mutex
  std::string cut_reason;          // guarded by mutex
  std::string digest;              // set before finished

  ~Reader() {
    {
      const std::lock_guard lock(mutex);
      abandoned = true;
    }
    changed.notify_all();
    if (thread.joinable()) thread.join();
    if (fd >= 0) close(fd);
  }

  void run() {
    Sha256 hash;
    std::string raw;
    std::string out;
    bool damaged = false;
    while (!stopped() && read_piece(raw)) {
      hash.update(raw);
      if (!inflater) {
        if (!push(std::exchange(raw, {}))) return;
        continue;
      }
      inflater->input(raw);
      while (!damaged && !inflater->needs_input()) {
        if (stopped()) break;
        damaged = !inflater->inflate_to(out, options.piece_bytes);
        const bool full = damaged || out.size() == options.piece_bytes;
        if (full && !push(std::exchange(out, {}))) return;
      }
    }
    if (!push(std::move(out))) return;
    const std::lock_guard lock(mutex);
    if (damaged) {
      cut_reason = "its " + std::string(inflater->format()) + " data is damaged";
    } else if (inflater && inflater->inside_member()) {
      cut_reason = "its " + std::string(inflater->format()) + " data stops before its end";
    }
    digest = hash.hex();
    finished = true;
    changed.notify_all();
  }

  // Asked to stop: also where nothing reaches the consumer, as in padding behind gzip data.
  bool stopped() {
    if (options.stop == nullptr || !options.stop->load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(mutex);
    failure = Error{ErrorCode::kInterrupted, "stopped on request", ""};
    return true;
  }

  // Fills `raw` with the next bytes of the file; false at its end or after a failure.
  bool read_piece(std::string& raw) {
    const std::size_t wanted = options.piece_bytes;
    raw.resize(wanted);
    std::size_t size = 0;
    while (size < wanted) {
      const ssize_t got = read(fd, raw.data() + size, wanted - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        const std::lock_guard lock(mutex);
        failure = errno_error("reading " + path, errno);
        return false;
      }
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    raw.resize(size);
    bytes_read += size;
    return size > 0;
  }

  // False if nobody reads on. An empty piece would read as the end, so it is none.
  bool push(std::string piece) {
    if (piece.empty()) return true;
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return pieces.size() < kPiecesAhead || abandoned; });
    if (abandoned) return false;
    pieces.push_back(std::move(piece));
    changed.notify_all();
    return true;
  }

  // The next piece; empty at the end.
  std::string pop() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return !pieces.empty() || finished; });
    if (pieces.empty()) return {};
    std::string piece = std::move(pieces.front());
    pieces.pop_front();
    changed.notify_all();
    return piece;
  }
};

Result<std::unique_ptr<InputStream>> InputStream::open(const std::string& path,
                                                       InputOptions options) {
  const std::string action = "reading trace " + path;
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return errno_error(action, errno);
  auto reader = std::make_unique<Reader>();
  reader->fd = fd;
  reader->path = path;
  reader->options = options;
  struct stat info {};
  if (fstat(fd, &info) != 0) return errno_error(action, errno);
  if (!S_ISREG(info.st_mode)) return not_regular(action, info.st_mode);
  char head[4] = {};
  const ssize_t got = pread(fd, head, sizeof head, 0);
  reader->inflater = inflater_for({head, static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  std::unique_ptr<InputStream> stream(new InputStream());
  stream->path_ = path;
  stream->file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  stream->compressed_ = reader->inflater != nullptr;
  stream->reader_ = std::move(reader);
  stream->reader_->thread = std::thread([r = stream->reader_.get()] { r->run(); });
  return stream;
}

InputStream::~InputStream() = default;

Result<std::string_view> InputStream::next() {
  if (at_end_) return std::string_view{};
  current_ = reader_->pop();
  if (!current_.empty()) return std::string_view(current_);
  at_end_ = true;
  const std::lock_guard lock(reader_->mutex);
  if (reader_->failure) return *reader_->failure;
  cut_reason_ = reader_->cut_reason;
  return std::string_view{};
}

std::uint64_t InputStream::bytes_read() const {
  return reader_->bytes_read;
}

Result<std::string> InputStream::sha256() {
  while (!at_end_) {
    TELLER_TRY(const std::string_view piece, next());
    static_cast<void>(piece);
  }
  return reader_->digest;
}

}  // namespace teller
