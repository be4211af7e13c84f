#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
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

}  // namespace

Result<EventFileWriter> EventFileWriter::create(const std::string& path, std::string_view meta_json,
                                                BackgroundWriter* background) {
  EventFileWriter writer;
  writer.background_ = background;
  writer.path_ = path;
  writer.track_slots_.resize(kFirstTrackSlots);
  writer.fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (writer.fd_ < 0) return errno_error("creating event file " + path, errno);
  FileHeader header{};
  std::memcpy(header.magic, kEventFileMagic, sizeof header.magic);
  TELLER_CHECK_OK(writer.write_all(&header, sizeof header));
  TELLER_CHECK_OK(writer.write_meta(meta_json));
  return writer;
}

EventFileWriter::EventFileWriter(EventFileWriter&& other) noexcept {
  *this = std::move(other);
}

EventFileWriter& EventFileWriter::operator=(EventFileWriter&& other) noexcept {
  if (this == &other) return *this;
  if (fd_ >= 0 && !close_file()) failed_ = true;
  background_ = other.background_;
  block_ = std::move(other.block_);
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  strings_ = std::move(other.strings_);
  string_ids_ = std::move(other.string_ids_);
  next_string_ = other.next_string_;
  strings_written_ = other.strings_written_;
  pending_strings_ = std::move(other.pending_strings_);
  tracks_ = std::move(other.tracks_);
  tracks_written_ = other.tracks_written_;
  track_slots_ = std::move(other.track_slots_);
  events_ = std::move(other.events_);
  events_written_ = other.events_written_;
  bytes_written_ = other.bytes_written_;
  failed_ = other.failed_;
  failure_ = std::move(other.failure_);
  return *this;
}

EventFileWriter::~EventFileWriter() {
  if (fd_ >= 0 && !close_file()) failed_ = true;
}

StringId EventFileWriter::intern(std::string_view text) {
  const std::uint32_t at = strings_.intern(text);
  if (at == string_ids_.size()) string_ids_.push_back(add_string(text));
  return string_ids_[at];
}

StringId EventFileWriter::append_text(std::string_view text) {
  return text.empty() ? 0 : add_string(text);
}

StringId EventFileWriter::add_string(std::string_view text) {
  const auto length = static_cast<std::uint32_t>(text.size());
  pending_strings_.append(reinterpret_cast<const char*>(&length), sizeof length);
  pending_strings_.append(text);
  return next_string_++;
}

TrackId EventFileWriter::track(const TrackRecord& record) {
  if (tracks_.size() * 2 >= track_slots_.size()) {
    track_slots_.assign(track_slots_.size() * 2, 0);
    for (std::uint32_t id = 0; id < tracks_.size(); ++id) {
      std::size_t at = hash_track(tracks_[id]) & (track_slots_.size() - 1);
      while (track_slots_[at] != 0) at = (at + 1) & (track_slots_.size() - 1);
      track_slots_[at] = id + 1;
    }
  }
  const std::size_t mask = track_slots_.size() - 1;
  for (std::size_t at = hash_track(record) & mask;; at = (at + 1) & mask) {
    if (track_slots_[at] == 0) {
      tracks_.push_back(record);
      track_slots_[at] = static_cast<std::uint32_t>(tracks_.size());
      return track_slots_[at] - 1;
    }
    if (same_track(tracks_[track_slots_[at] - 1], record)) return track_slots_[at] - 1;
  }
}

Status EventFileWriter::add(const EventRecord& event) {
  events_.push_back(event);
  const bool full = events_.size() >= kBlockEvents || pending_strings_.size() >= kBlockTextBytes;
  return full ? flush(false) : Status{};
}

Status EventFileWriter::flush(bool durable) {
  if (failed_) return failure_;
  TELLER_CHECK_OK(write_strings());
  TELLER_CHECK_OK(write_tracks());
  TELLER_CHECK_OK(write_events());
  if (durable && background_ == nullptr && fdatasync(fd_) != 0 && errno != EINVAL) {
    return errno_error("writing " + path_, errno);
  }
  return {};
}

Status EventFileWriter::write_strings() {
  if (strings_written_ == next_string_) return {};
  const StringId first = std::exchange(strings_written_, next_string_);
  TELLER_CHECK_OK(write_block(BlockKind::kStrings, next_string_ - first, first, pending_strings_));
  pending_strings_.clear();
  // One huge text must not hold its memory for the rest of the file.
  if (pending_strings_.capacity() > 4 * kBlockTextBytes) pending_strings_.shrink_to_fit();
  return {};
}

Status EventFileWriter::write_tracks() {
  if (tracks_written_ == tracks_.size()) return {};
  const std::uint32_t first = tracks_written_;
  tracks_written_ = static_cast<std::uint32_t>(tracks_.size());
  const auto* data = reinterpret_cast<const char*>(tracks_.data() + first);
  const std::uint32_t count = tracks_written_ - first;
  return write_block(BlockKind::kTracks, count, first, {data, count * sizeof(TrackRecord)});
}

Status EventFileWriter::write_events() {
  if (events_.empty()) return {};
  const auto count = static_cast<std::uint32_t>(events_.size());
  const auto* data = reinterpret_cast<const char*>(events_.data());
  TELLER_CHECK_OK(write_block(BlockKind::kEvents, count, 0, {data, count * sizeof(EventRecord)}));
  events_written_ += count;
  events_.clear();
  return {};
}

Status EventFileWriter::write_meta(std::string_view meta_json) {
  TELLER_CHECK_OK(flush(false));
  return write_block(BlockKind::kMeta, 1, 0, meta_json);
}

Status EventFileWriter::finish(std::string_view meta_json) {
  TELLER_CHECK_OK(flush(false));
  if (!meta_json.empty()) TELLER_CHECK_OK(write_meta(meta_json));
  TELLER_CHECK_OK(write_block(BlockKind::kEnd, 0, 0, {}));
  return close_file();
}

Status EventFileWriter::close_file() {
  const int fd = std::exchange(fd_, -1);
  if (background_ != nullptr) {
    background_->close_file(fd, path_);
    return {};
  }
  if (close(fd) != 0) return errno_error("writing " + path_, errno);
  return {};
}

Status EventFileWriter::write_block(BlockKind kind, std::uint32_t records, std::uint32_t first_id,
                                    std::string_view payload) {
  const BlockHeader header = make_block_header(kind, records, first_id, payload);
  constexpr char kPadding[8] = {};
  TELLER_CHECK_OK(write_all(&header, sizeof header));
  TELLER_CHECK_OK(write_all(payload.data(), payload.size()));
  TELLER_CHECK_OK(write_all(kPadding, padded_size(payload.size()) - payload.size()));
  if (background_ != nullptr) background_->append(fd_, path_, std::exchange(block_, {}));
  return {};
}

Status EventFileWriter::write_all(const void* data, std::size_t size) {
  if (failed_) return failure_;
  if (background_ != nullptr) {
    block_.append(static_cast<const char*>(data), size);
    bytes_written_ += size;
    return {};
  }
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = write(fd_, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      failed_ = true;
      failure_ = errno_error("writing " + path_, errno);
      return failure_;
    }
    at += done;
    size -= static_cast<std::size_t>(done);
    bytes_written_ += static_cast<std::uint64_t>(done);
  }
  return {};
}

}  // namespace teller
