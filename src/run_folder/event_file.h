// Writes and reads event files (*.tev): strings, tracks and events of one process or one imported
// file, in checksummed blocks, so that what a crash leaves is readable up to its last whole block.
// Layout: docs/run_folder.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/background_writer.h"
#include "base/mapped_file.h"
#include "teller/event.h"
#include "teller/result.h"

namespace teller {

// Kinds of block in an event file. Numbers are written to files.
enum class BlockKind : std::uint16_t {
  kMeta = 1,     // one JSON object; keys of later META blocks replace those of earlier ones
  kStrings = 2,  // strings with consecutive ids
  kTracks = 3,   // TrackRecords with consecutive ids
  kEvents = 4,   // EventRecords
  kEnd = 5,      // written last: the file is whole
};

struct FileHeader {
  char magic[8];  // "\x89TLREV\r\n"
  std::uint16_t major = 1;
  std::uint16_t minor = 0;
  std::uint32_t reserved = 0;
  std::uint64_t reserved2[2] = {0, 0};
};
static_assert(sizeof(FileHeader) == 32);

struct BlockHeader {
  std::uint32_t mark;   // kBlockMark
  std::uint16_t kind;   // BlockKind
  std::uint16_t flags;  // 0
  std::uint64_t
      payload_bytes;       // without padding; the next header follows at the next multiple of 8
  std::uint32_t records;   // strings, tracks or events in the payload
  std::uint32_t first_id;  // STRINGS, TRACKS: id of the first one in the payload
  std::uint64_t check;  // XXH3-64 of the payload, seeded with XXH3-64 of this header with check = 0
};
static_assert(sizeof(BlockHeader) == 32);

inline constexpr std::uint32_t kBlockMark = 0x4b4c4254;  // "TBLK"

// Writes one event file. Not thread-safe. Buffers events, and the strings and tracks they need, up
// to about 1 MiB of events or 8 MiB of strings; these are written together. After the first failed
// write every call returns that error and nothing more is written (the file stays readable up to
// the last whole block).
class EventFileWriter {
 public:
  // Creates `path` (which must not exist) and writes META `meta_json` (one JSON object).
  // With `background`, which must outlive the writer, it is written and closed from
  // there: failures show in its status(), and the file is whole after its drain(). Then flush()
  // cannot be durable.
  static Result<EventFileWriter> create(const std::string& path, std::string_view meta_json,
                                        BackgroundWriter* background = nullptr);
  // The same, written and hashed from a thread of its own: see digest(). flush() does not wait for
  // it, and cannot be durable.
  static Result<EventFileWriter> create_hashed(const std::string& path, std::string_view meta_json);
  EventFileWriter(EventFileWriter&&) noexcept;
  EventFileWriter& operator=(EventFileWriter&&) noexcept;
  ~EventFileWriter();

  // Returns the id of `text`, adding it if new. "" is 0. The writer keeps such texts to its end.
  StringId intern(std::string_view text);
  // Returns a new id for `text` ("" is 0), whose bytes are kept only until the next block is
  // written: for texts of which hardly two are equal.
  StringId append_text(std::string_view text);
  // Returns the id of a track with exactly these fields, adding it if new.
  TrackId track(const TrackRecord& record);
  // Appends one event; writes a block when the buffer is full.
  Status add(const EventRecord& event);
  // Writes what is buffered as whole blocks. With `durable`, also asks the kernel to put it on
  // disk.
  Status flush(bool durable = false);
  // Flushes, writes META `meta_json` ("" for none) and END, closes. The writer can't be used
  // afterwards.
  Status finish(std::string_view meta_json);
  // Writes a META block now (after what is buffered).
  Status write_meta(std::string_view meta_json);

  std::uint64_t events_written() const;
  std::uint64_t bytes_written() const;
  const std::string& path() const;
  // XXH3-128 of the file, as 32 hexadecimal digits, after finish(); "" unless create_hashed() made
  // it.
  const std::string& digest() const;

 private:
  struct State;
  explicit EventFileWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// What was wrong with a file that could still be read in part.
struct EventFileDamage {
  bool whole = true;                  // END was found
  std::uint64_t lost_bytes = 0;       // bytes after the last whole block that were cut
  std::uint64_t skipped_blocks = 0;   // blocks with a wrong checksum or of unknown kind
  std::uint64_t invalid_records = 0;  // records with ids out of range; they read as id 0
  std::string reason;                 // one line for people, "" if whole
};

// A memory-mapped event file. Strings, tracks and events are views into the map.
class EventFile {
 public:
  // Opens and checks `path`. Fails on a wrong magic or an unknown major version; a torn tail or a
  // broken block is reported in damage() instead.
  static Result<EventFile> open(const std::string& path);

  // META objects merged, as JSON text ("{}" if there is none).
  const std::string& meta_json() const { return meta_json_; }
  // The string with this id; "" for an id out of range.
  std::string_view string(StringId id) const {
    return id < strings_.size() ? strings_[id] : std::string_view{};
  }
  std::size_t string_count() const { return strings_.size(); }
  const TrackRecord& track(TrackId id) const {
    return id < tracks_.size() ? tracks_[id] : no_track_;
  }
  std::size_t track_count() const { return tracks_.size(); }
  std::uint64_t event_count() const { return event_count_; }
  // Events in file order, one span per block. Ids in them are checked: all are in range, or
  // damage() counts them and string()/track() answer with an empty value.
  const std::vector<std::span<const EventRecord>>& blocks() const { return blocks_; }
  const EventFileDamage& damage() const { return damage_; }
  const std::string& path() const { return path_; }

 private:
  void read_blocks();
  bool read_block(const BlockHeader& header, std::string_view payload);
  bool read_strings(const BlockHeader& header, std::string_view payload);
  bool read_tracks(const BlockHeader& header, std::string_view payload);
  bool fill_gap(std::uint32_t first_id, std::size_t have) const;
  void describe_damage(bool ended);
  void add_events(std::span<const EventRecord> events);

  std::string path_;
  MappedFile map_;
  std::string meta_json_ = "{}";
  std::vector<std::string> metas_;
  std::vector<std::string_view> strings_{std::string_view{}};
  std::vector<TrackRecord> tracks_;
  TrackRecord no_track_;
  std::vector<std::span<const EventRecord>> blocks_;
  std::uint64_t event_count_ = 0;
  EventFileDamage damage_;
};

}  // namespace teller
