#include "importers/input_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

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

namespace teller {

namespace {

constexpr std::size_t kPiecesAhead = 4;

Error not_regular(const std::string& action, mode_t mode) {
  if (S_ISDIR(mode)) {
    return {ErrorCode::kUsage, action + ": it is a folder", "give the trace file itself"};
  }
  return {ErrorCode::kUsage, action + ": it is not a regular file", "copy the trace to a file"};
}

// Inflates gzip members one after the other.
class Inflater {
 public:
  Inflater() { ok_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  // Gives it the next compressed bytes; they must stay until needs_input().
  void input(std::string_view data) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream_.avail_in = static_cast<uInt>(data.size());
  }
  bool needs_input() const { return stream_.avail_in == 0; }
  bool inside_member() const { return inside_; }
  // Appends up to `limit` inflated bytes to `out`; false if the data is damaged.
  bool inflate_to(std::string& out, std::size_t limit) {
    const std::size_t before = out.size();
    out.resize(limit);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream_.avail_out = static_cast<uInt>(limit - before);
    const bool fine = ok_ && run();
    out.resize(limit - stream_.avail_out);
    return fine;
  }

 private:
  bool run() {
    while (stream_.avail_in > 0 && stream_.avail_out > 0) {
      if (!inside_) {
        // Zero padding or other text behind a whole member is no data (gzip(1) says so too).
        if (members_ > 0 && *stream_.next_in != 0x1f) {
          stream_.avail_in = 0;
          return true;
        }
        inflateReset(&stream_);
        inside_ = true;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inside_ = false;
        ++members_;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return false;
      }
    }
    return true;
  }

  z_stream stream_{};
  bool ok_ = false;
  bool inside_ = false;
  int members_ = 0;
};

}  // namespace

// The thread that reads, hashes and inflates, and the queue between it and the consumer.
struct InputStream::Reader {
  int fd = -1;
  bool gzip = false;
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
    Inflater inflater;
    std::string raw;
    std::string out;
    bool damaged = false;
    while (!stopped() && read_piece(raw)) {
      hash.update(raw);
      if (!gzip) {
        if (!push(std::exchange(raw, {}))) return;
        continue;
      }
      inflater.input(raw);
      while (!damaged && !inflater.needs_input()) {
        if (stopped()) break;
        damaged = !inflater.inflate_to(out, options.piece_bytes);
        const bool full = damaged || out.size() == options.piece_bytes;
        if (full && !push(std::exchange(out, {}))) return;
      }
    }
    if (!push(std::move(out))) return;
    const std::lock_guard lock(mutex);
    if (damaged) {
      cut_reason = "its gzip data is damaged";
    } else if (gzip && inflater.inside_member()) {
      cut_reason = "its gzip data stops before its end";
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
  unsigned char magic[2] = {};
  reader->gzip = pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
  std::unique_ptr<InputStream> stream(new InputStream());
  stream->path_ = path;
  stream->file_bytes_ = static_cast<std::uint64_t>(info.st_size);
  stream->gzip_ = reader->gzip;
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

std::string inflated_start(std::string_view gzip) {
  std::string bytes(gzip);
  std::string out(512, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "";
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  inflate(&stream, Z_SYNC_FLUSH);
  out.resize(out.size() - stream.avail_out);
  inflateEnd(&stream);
  return out;
}

}  // namespace teller
