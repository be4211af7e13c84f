#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/byte_buffer.h"
#include "base/file.h"
#include "base/hashing_writer.h"
#include "base/interner.h"
#include "run_folder/block.h"
#include "run_folder/event_file.h"

namespace teller {

namespace {

constexpr std::size_t kBlockEvents = 16384;  // 1 MiB of events
constexpr std::size_t kBlockTextBytes = 8u << 20;
constexpr std::size_t kFirstTrackSlots = 64;

bool same_track(const TrackRecord& a, const TrackRecord& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::uint64_t hash_track(const TrackRecord& record) {
  return XXH3_64bits(&record, sizeof record);
}

// The payload of a block in the making, behind room for its header.
struct Block {
  ByteBuffer bytes;

  std::size_t payload_size() const {
    return bytes.empty() ? 0 : bytes.size() - sizeof(BlockHeader);
  }
  void append(const void* data, std::size_t size) {
    if (bytes.empty()) {
      bytes.room(sizeof(BlockHeader) + size);
      bytes.extend(sizeof(BlockHeader));
    }
    bytes.append(data, size);
  }
};

}  // namespace

struct EventFileWriter::State {
  std::string path;
  int fd = -1;  // -1 where `hashing` has it
  BackgroundWriter* background = nullptr;
  std::unique_ptr<HashingWriter> hashing;
  std::string digest;
  Interner strings;                     // what intern() was given
  std::vector<StringId> string_ids{0};  // its ids -> ids in the file, where more strings are
  StringId next_string = 1;             // id 0 is never written
  StringId strings_written = 1;         // ids below this one are in the file
  Block pending_strings;
  std::vector<TrackRecord> tracks;
  std::uint32_t tracks_written = 0;
  // Open-addressing index of tracks: 0 = empty, else id + 1.
  std::vector<std::uint32_t> track_slots = std::vector<std::uint32_t>(kFirstTrackSlots);
  Block pending_events;
  std::uint32_t events_pending = 0;
  std::uint64_t events_written = 0;
  std::uint64_t bytes_written = 0;
  bool failed = false;
  Error failure;

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (fd >= 0 && !close_file()) failed = true;
  }

  StringId add_string(std::string_view text);
  Status flush();
  Status write_strings();
  Status write_tracks();
  Status write_events();
  Status write_meta(std::string_view meta_json);
  Status write_block(BlockKind kind, std::uint32_t records, std::uint32_t first_id, Block& block);
  Status send(ByteBuffer& bytes);
  Status write_all(std::string_view bytes);
  Status close_file();
};

EventFileWriter::EventFileWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
EventFileWriter::EventFileWriter(EventFileWriter&&) noexcept = default;
EventFileWriter& EventFileWriter::operator=(EventFileWriter&&) noexcept = default;
EventFileWriter::~EventFileWriter() = default;

namespace {

Result<int> create_file(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return errno_error("creating event file " + path, errno);
  return fd;
}

ByteBuffer file_header() {
  FileHeader header{};
  std::memcpy(header.magic, kEventFileMagic, sizeof header.magic);
  ByteBuffer bytes;
  bytes.append(&header, sizeof header);
  return bytes;
}

}  // namespace

Result<EventFileWriter> EventFileWriter::create(const std::string& path, std::string_view meta_json,
                                                BackgroundWriter* background) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->background = background;
  TELLER_TRY(state->fd, create_file(path));
  ByteBuffer header = file_header();
  TELLER_CHECK_OK(state->send(header));
  TELLER_CHECK_OK(state->write_meta(meta_json));
  return EventFileWriter(std::move(state));
}

Result<EventFileWriter> EventFileWriter::create_hashed(const std::string& path,
                                                       std::string_view meta_json) {
  auto state = std::make_unique<State>();
  state->path = path;
  TELLER_TRY(const int fd, create_file(path));
  state->hashing = std::make_unique<HashingWriter>(fd, path);
  ByteBuffer header = file_header();
  TELLER_CHECK_OK(state->send(header));
  TELLER_CHECK_OK(state->write_meta(meta_json));
  return EventFileWriter(std::move(state));
}

std::uint64_t EventFileWriter::events_written() const {
  return state_->events_written;
}
std::uint64_t EventFileWriter::bytes_written() const {
  return state_->bytes_written;
}
const std::string& EventFileWriter::path() const {
  return state_->path;
}
const std::string& EventFileWriter::digest() const {
  return state_->digest;
}

StringId EventFileWriter::intern(std::string_view text) {
  State& state = *state_;
  const std::uint32_t at = state.strings.intern(text);
  if (at == state.string_ids.size()) state.string_ids.push_back(state.add_string(text));
  return state.string_ids[at];
}

StringId EventFileWriter::append_text(std::string_view text) {
  return text.empty() ? 0 : state_->add_string(text);
}

StringId EventFileWriter::State::add_string(std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  pending_strings.append(&length, sizeof length);
  pending_strings.bytes.append(text);
  return next_string++;
}

TrackId EventFileWriter::track(const TrackRecord& record) {
  std::vector<TrackRecord>& tracks = state_->tracks;
  std::vector<std::uint32_t>& slots = state_->track_slots;
  if (tracks.size() * 2 >= slots.size()) {
    slots.assign(slots.size() * 2, 0);
    for (std::uint32_t id = 0; id < tracks.size(); ++id) {
      std::size_t at = hash_track(tracks[id]) & (slots.size() - 1);
      while (slots[at] != 0) at = (at + 1) & (slots.size() - 1);
      slots[at] = id + 1;
    }
  }
  const std::size_t mask = slots.size() - 1;
  for (std::size_t at = hash_track(record) & mask;; at = (at + 1) & mask) {
    if (slots[at] == 0) {
      tracks.push_back(record);
      slots[at] = static_cast<std::uint32_t>(tracks.size());
      return slots[at] - 1;
    }
    if (same_track(tracks[slots[at] - 1], record)) return slots[at] - 1;
  }
}

Status EventFileWriter::add(const EventRecord& event) {
  State& state = *state_;
  state.pending_events.append(&event, sizeof event);
  const bool full = ++state.events_pending >= kBlockEvents ||
                    state.pending_strings.payload_size() >= kBlockTextBytes;
  return full ? state.flush() : Status{};
}

Status EventFileWriter::flush(bool durable) {
  TELLER_CHECK_OK(state_->flush());
  if (durable && state_->fd >= 0 && state_->background == nullptr && fdatasync(state_->fd) != 0 &&
      errno != EINVAL) {
    return errno_error("writing " + state_->path, errno);
  }
  return {};
}

Status EventFileWriter::State::flush() {
  if (failed) return failure;
  TELLER_CHECK_OK(write_strings());
  TELLER_CHECK_OK(write_tracks());
  return write_events();
}

Status EventFileWriter::State::write_strings() {
  if (strings_written == next_string) return {};
  const StringId first = std::exchange(strings_written, next_string);
  TELLER_CHECK_OK(write_block(BlockKind::kStrings, next_string - first, first, pending_strings));
  // One huge text must not hold its memory for the rest of the file.
  if (pending_strings.bytes.capacity() > 4 * kBlockTextBytes) pending_strings = {};
  return {};
}

Status EventFileWriter::State::write_tracks() {
  if (tracks_written == tracks.size()) return {};
  const std::uint32_t first = tracks_written;
  tracks_written = static_cast<std::uint32_t>(tracks.size());
  const std::uint32_t count = tracks_written - first;
  Block block;
  block.append(tracks.data() + first, count * sizeof(TrackRecord));
  return write_block(BlockKind::kTracks, count, first, block);
}

Status EventFileWriter::State::write_events() {
  if (events_pending == 0) return {};
  const std::uint32_t count = std::exchange(events_pending, 0);
  TELLER_CHECK_OK(write_block(BlockKind::kEvents, count, 0, pending_events));
  events_written += count;
  return {};
}

Status EventFileWriter::write_meta(std::string_view meta_json) {
  return state_->write_meta(meta_json);
}

Status EventFileWriter::State::write_meta(std::string_view meta_json) {
  TELLER_CHECK_OK(flush());
  Block block;
  block.append(meta_json.data(), meta_json.size());
  return write_block(BlockKind::kMeta, 1, 0, block);
}

Status EventFileWriter::finish(std::string_view meta_json) {
  TELLER_CHECK_OK(state_->flush());
  if (!meta_json.empty()) TELLER_CHECK_OK(write_meta(meta_json));
  Block end;
  end.append(nullptr, 0);
  TELLER_CHECK_OK(state_->write_block(BlockKind::kEnd, 0, 0, end));
  if (state_->hashing == nullptr) return state_->close_file();
  TELLER_CHECK_OK(state_->hashing->finish());
  state_->digest = state_->hashing->digest();
  return {};
}

Status EventFileWriter::State::close_file() {
  const int number = std::exchange(fd, -1);
  if (background != nullptr) {
    background->close_file(number, path);
    return {};
  }
  if (close(number) != 0) return errno_error("writing " + path, errno);
  return {};
}

// Leaves `block` empty.
Status EventFileWriter::State::write_block(BlockKind kind, std::uint32_t records,
                                           std::uint32_t first_id, Block& block) {
  ByteBuffer& bytes = block.bytes;
  const std::string_view payload = bytes.view().substr(sizeof(BlockHeader));
  const BlockHeader header = make_block_header(kind, records, first_id, payload);
  std::memcpy(bytes.data(), &header, sizeof header);
  constexpr char kPadding[8] = {};
  bytes.append(kPadding, padded_size(payload.size()) - payload.size());
  return send(bytes);
}

// Leaves `bytes` empty.
Status EventFileWriter::State::send(ByteBuffer& bytes) {
  if (failed) return failure;
  const std::size_t size = bytes.size();
  Status done;
  if (hashing != nullptr) {
    done = hashing->append(std::move(bytes));
    bytes = hashing->spare();
  } else if (background != nullptr) {
    background->append(fd, path, std::string(bytes.view()));
  } else {
    done = write_all(bytes.view());
  }
  bytes.clear();
  if (!done) {
    failed = true;
    failure = done.error();
    return failure;
  }
  bytes_written += size;
  return {};
}

Status EventFileWriter::State::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

}  // namespace teller
