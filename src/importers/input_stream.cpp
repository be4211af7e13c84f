#include "importers/input_stream.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/file.h"
#include "base/xxh128.h"
#include "importers/inflater.h"
#include "importers/out_of_memory.h"

namespace teller {

namespace {

constexpr std::size_t kPiecesAhead = 3;
// Read and hashed at a time: what is hashed is still near the processor.
constexpr std::size_t kReadBytes = 256u << 10;
// Room before each piece, for the end of the one before.
constexpr std::size_t kHeadroom = 64u << 10;

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
  Xxh128 hash;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<InputPiece> pieces;   // guarded by mutex
  std::deque<InputPiece> spare;    // guarded by mutex; read and done with
  bool finished = false;           // guarded by mutex
  bool abandoned = false;          // guarded by mutex
  std::optional<Error> failure;    // guarded by mutex
  std::string cut_reason;          // guarded by mutex
  std::uint64_t bytes_behind = 0;  // guarded by mutex
  std::string digest;              // set before finished
  std::exception_ptr thrown;       // set before finished

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
    try {
      read_all();
    } catch (...) {
      thrown = std::current_exception();  // to say it takes memory, which there may be none of
    }
    const std::lock_guard lock(mutex);
    finished = true;
    changed.notify_all();
  }

  void fail(Error error) {
    const std::lock_guard lock(mutex);
    failure = std::move(error);
  }

  void read_all() {
    if (inflater) return read_compressed();
    for (;;) {
      InputPiece piece = new_piece();
      piece.bytes.resize(kHeadroom + options.piece_bytes + kPadding);
      if (stopped() || !read_piece(piece)) break;
      if (!push(std::move(piece))) return;
    }
    digest = hash.hex();
  }

  void read_compressed() {
    InputPiece raw;
    raw.bytes.resize(options.piece_bytes);
    InputPiece out = new_piece();
    bool damaged = false;
    while (!stopped() && read_piece(raw)) {
      inflater->input(raw.text());
      while (!damaged && !inflater->needs_input()) {
        if (stopped()) break;
        damaged = !inflater->inflate_to(out.bytes, kHeadroom + options.piece_bytes);
        const bool full = damaged || out.bytes.size() == kHeadroom + options.piece_bytes;
        if (full && !push_inflated(std::exchange(out, new_piece()))) return;
      }
    }
    if (!push_inflated(std::move(out))) return;
    const std::lock_guard lock(mutex);
    if (damaged) {
      cut_reason = "its " + std::string(inflater->format()) + " data is damaged";
    } else if (inflater->inside_member()) {
      cut_reason = "its " + std::string(inflater->format()) + " data stops before its end";
    }
    bytes_behind = inflater->bytes_behind();
    digest = hash.hex();
  }

  // An empty piece that begins behind the headroom; of memory that was used before, if there is.
  InputPiece new_piece() {
    InputPiece piece;
    const std::lock_guard lock(mutex);
    if (!spare.empty()) {
      piece = std::move(spare.front());
      spare.pop_front();
    }
    if (inflater) piece.bytes.resize(kHeadroom);
    piece.begin = piece.end = kHeadroom;
    return piece;
  }

  // Asked to stop: also where nothing reaches the consumer, as in padding behind gzip data.
  bool stopped() {
    if (options.stop == nullptr || !options.stop->load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(mutex);
    failure = Error{ErrorCode::kInterrupted, "stopped on request", ""};
    return true;
  }

  // Fills `piece` from its begin on with the next bytes of the file, and hashes them; false at the
  // file's end or after a failure.
  bool read_piece(InputPiece& piece) {
    const std::size_t limit = piece.begin + options.piece_bytes;
    for (piece.end = piece.begin; piece.end < limit;) {
      const std::size_t wanted = std::min(kReadBytes, limit - piece.end);
      const ssize_t got = read(fd, piece.bytes.data() + piece.end, wanted);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) {
        fail(errno_error("reading " + path, errno));
        return false;
      }
      if (got == 0) break;
      const auto size = static_cast<std::size_t>(got);
      hash.update({piece.bytes.data() + piece.end, size});
      piece.end += size;
      bytes_read += size;
    }
    return piece.end > piece.begin;
  }

  bool push_inflated(InputPiece piece) {
    piece.end = piece.bytes.size();
    piece.bytes.resize(piece.end + kPadding);
    return push(std::move(piece));
  }

  // False if nobody reads on. An empty piece would read as the end, so it is none.
  bool push(InputPiece piece) {
    if (piece.text().empty()) return true;
    std::memset(piece.bytes.data() + piece.end, ' ', kPadding);
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return pieces.size() < kPiecesAhead || abandoned; });
    if (abandoned) return false;
    pieces.push_back(std::move(piece));
    changed.notify_all();
    return true;
  }

  // Replaces `piece` by the next one, which is empty at the end.
  void pop(InputPiece& piece) {
    std::unique_lock lock(mutex);
    if (!piece.bytes.empty()) spare.push_back(std::exchange(piece, {}));
    changed.wait(lock, [&] { return !pieces.empty() || finished; });
    piece.begin = piece.end = 0;
    if (pieces.empty()) return;
    piece = std::move(pieces.front());
    pieces.pop_front();
    changed.notify_all();
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
  reader_->pop(current_);
  if (!current_.text().empty()) return current_.text();
  at_end_ = true;
  const std::lock_guard lock(reader_->mutex);
  if (reader_->failure) return *reader_->failure;
  if (reader_->thrown) return thrown_reading();
  cut_reason_ = reader_->cut_reason;
  bytes_behind_ = reader_->bytes_behind;
  return std::string_view{};
}

Error InputStream::thrown_reading() const {
  try {
    std::rethrow_exception(reader_->thrown);
  } catch (...) {
    return thrown_error("reading trace " + path_);
  }
}

Result<std::string_view> InputStream::next_behind(std::string_view kept) {
  if (kept.size() <= kHeadroom) {
    const std::string saved(kept);
    TELLER_TRY(const std::string_view piece, next());
    if (!piece.empty()) {
      joined_ = {};
      current_.begin -= saved.size();
      std::memcpy(current_.bytes.data() + current_.begin, saved.data(), saved.size());
      return current_.text();
    }
    joined_ = saved;
  } else {
    // What is kept and grows stays where it is.
    if (kept.data() == joined_.data()) {
      joined_.resize(kept.size());
    } else {
      joined_ = std::string(kept);
    }
    TELLER_TRY(const std::string_view piece, next());
    joined_ += piece;
  }
  const std::size_t size = joined_.size();
  joined_.append(kPadding, ' ');
  return std::string_view(joined_).substr(0, size);
}

std::string InputStream::behind_words() const {
  return std::to_string(bytes_behind_) + " bytes behind the compressed data were not read";
}

std::uint64_t InputStream::bytes_read() const {
  return reader_->bytes_read;
}

Result<std::string> InputStream::digest() {
  while (!at_end_) {
    TELLER_TRY(const std::string_view piece, next());
    static_cast<void>(piece);
  }
  return reader_->digest;
}

}  // namespace teller
