#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/huge_pages.h"
#include "base/json.h"
#include "run_folder/block.h"
#include "run_folder/event_file.h"

namespace teller {

namespace {

// How much searching for whole blocks behind broken ones a file is worth: enough for real damage,
// too little for a hostile file to make the search slow.
struct ResyncBudget {
  int tries = 1000;
  std::uint64_t bytes = 0;  // that may be hashed in vain
};

struct Block {
  BlockHeader header;
  std::string_view payload;
  std::size_t next;  // offset after the padding
};

// The whole block at `offset`; nothing if there is none or its check fails.
std::optional<Block> block_at(std::string_view file, std::size_t offset) {
  Block block{};
  if (offset > file.size() || file.size() - offset < sizeof block.header) return std::nullopt;
  std::memcpy(&block.header, file.data() + offset, sizeof block.header);
  const std::size_t room = file.size() - offset - sizeof block.header;
  if (block.header.mark != kBlockMark || block.header.payload_bytes > room) return std::nullopt;
  if (padded_size(block.header.payload_bytes) > room) return std::nullopt;
  block.payload = file.substr(offset + sizeof block.header, block.header.payload_bytes);
  if (block_check(block.header, block.payload) != block.header.check) return std::nullopt;
  block.next = offset + sizeof block.header + padded_size(block.header.payload_bytes);
  return block;
}

// Offset of the next whole block after the broken one at `offset`; npos if none is found.
std::size_t next_whole_block(std::string_view file, std::size_t offset, ResyncBudget* budget) {
  const char* mark = reinterpret_cast<const char*>(&kBlockMark);
  const std::string_view wanted(mark, sizeof kBlockMark);
  std::size_t at = offset;
  while (budget->tries-- > 0) {
    at = file.find(wanted, at + 1);
    if (at == std::string_view::npos) return at;
    BlockHeader header{};
    if (at % 8 != 0 || file.size() - at < sizeof header) continue;
    std::memcpy(&header, file.data() + at, sizeof header);
    if (header.payload_bytes > budget->bytes) continue;
    if (block_at(file, at)) return at;
    budget->bytes -= header.payload_bytes;
  }
  return std::string_view::npos;
}

// How many strings the file's blocks say that they hold, whole or not; no more than there is room
// for in them.
std::size_t count_strings(std::string_view file) {
  std::size_t count = 0;
  BlockHeader header{};
  for (std::size_t at = sizeof(FileHeader); file.size() - at >= sizeof header;) {
    std::memcpy(&header, file.data() + at, sizeof header);
    at += sizeof header;
    if (header.mark != kBlockMark || header.payload_bytes > file.size() - at) break;
    if (static_cast<BlockKind>(header.kind) == BlockKind::kStrings) {
      count += std::min<std::size_t>(header.records, header.payload_bytes / sizeof(std::uint32_t));
    }
    at = std::min(at + padded_size(header.payload_bytes), file.size());
  }
  return count;
}

Error not_an_event_file(const std::string& path, std::string_view text) {
  const bool empty = text.empty();
  return {ErrorCode::kCorrupt,
          "reading event file " + path + ": " +
              (empty ? "it is empty" : "it does not begin with teller's mark"),
          "import or trace again"};
}

std::string merge_metas(const std::vector<std::string>& metas) {
  nlohmann::ordered_json merged = nlohmann::ordered_json::object();
  for (const std::string& text : metas) {
    auto meta = parse_json(text);
    if (!meta.is_object()) continue;
    for (auto& [key, value] : meta.items()) merged[key] = value;
  }
  return merged.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

Result<EventFile> EventFile::open(const std::string& path) {
  EventFile file;
  file.path_ = path;
  TELLER_TRY(file.map_, MappedFile::open(path, "event file"));
  const std::string_view text = file.map_.text();
  if (text.size() < sizeof(FileHeader) ||
      std::memcmp(text.data(), kEventFileMagic, sizeof kEventFileMagic) != 0) {
    return not_an_event_file(path, text);
  }
  FileHeader header{};
  std::memcpy(&header, text.data(), sizeof header);
  if (header.major != 1) {
    return Error{ErrorCode::kUnsupported,
                 "reading event file " + path + ": it has version " + std::to_string(header.major) +
                     ", this teller reads version 1",
                 "use the teller that wrote it, or a newer one"};
  }
  reserve_huge(file.strings_, count_strings(text) + 1);
  file.read_blocks();
  file.meta_json_ = merge_metas(file.metas_);
  return file;
}

void EventFile::read_blocks() {
  const std::string_view text = map_.text();
  std::size_t offset = sizeof(FileHeader);
  bool ended = false;
  ResyncBudget budget;
  budget.bytes = 4 * std::uint64_t{text.size()};
  while (offset < text.size() && !ended) {
    const auto block = block_at(text, offset);
    if (!block) {
      const std::size_t next = next_whole_block(text, offset, &budget);
      if (next == std::string_view::npos) break;
      ++damage_.skipped_blocks;
      offset = next;
      continue;
    }
    ended = static_cast<BlockKind>(block->header.kind) == BlockKind::kEnd;
    if (!read_block(block->header, block->payload)) ++damage_.skipped_blocks;
    offset = block->next;
  }
  damage_.lost_bytes = text.size() - offset;
  describe_damage(ended);
}

void EventFile::describe_damage(bool ended) {
  damage_.whole = ended && damage_.skipped_blocks == 0 && damage_.lost_bytes == 0;
  if (damage_.skipped_blocks > 0) {
    damage_.reason = std::to_string(damage_.skipped_blocks) + " broken or unknown blocks skipped";
  } else if (damage_.lost_bytes > 0) {
    damage_.reason =
        std::to_string(damage_.lost_bytes) + " bytes after the last whole block could not be read";
  } else if (!ended) {
    damage_.reason = "the writer did not finish: everything up to its last flush is here";
  }
}

bool EventFile::read_block(const BlockHeader& header, std::string_view payload) {
  switch (static_cast<BlockKind>(header.kind)) {
    case BlockKind::kMeta:
      metas_.emplace_back(payload);
      return true;
    case BlockKind::kStrings:
      return read_strings(header, payload);
    case BlockKind::kTracks:
      return read_tracks(header, payload);
    case BlockKind::kEvents:
      if (payload.size() != std::uint64_t{header.records} * sizeof(EventRecord)) return false;
      add_events({reinterpret_cast<const EventRecord*>(payload.data()), header.records});
      return true;
    case BlockKind::kEnd:
      return true;
  }
  return false;
}

// Ids go on where the last block stopped. They may jump only over blocks that were skipped, and
// never by more than the file's size (no allocation on a broken file's word).
bool EventFile::fill_gap(std::uint32_t first_id, std::size_t have) const {
  if (first_id == have) return true;
  return first_id > have && damage_.skipped_blocks > 0 && first_id - have < map_.size();
}

bool EventFile::read_strings(const BlockHeader& header, std::string_view payload) {
  if (!fill_gap(header.first_id, strings_.size())) return false;
  strings_.resize(header.first_id);
  for (std::uint32_t i = 0; i < header.records; ++i) {
    std::uint32_t length = 0;
    if (payload.size() < sizeof length) return false;
    std::memcpy(&length, payload.data(), sizeof length);
    payload.remove_prefix(sizeof length);
    if (payload.size() < length) return false;
    strings_.push_back(payload.substr(0, length));
    payload.remove_prefix(length);
  }
  return payload.empty();
}

bool EventFile::read_tracks(const BlockHeader& header, std::string_view payload) {
  if (payload.size() != std::uint64_t{header.records} * sizeof(TrackRecord)) return false;
  if (!fill_gap(header.first_id, tracks_.size())) return false;
  tracks_.resize(header.first_id);
  const auto* first = reinterpret_cast<const TrackRecord*>(payload.data());
  tracks_.insert(tracks_.end(), first, first + header.records);
  return true;
}

void EventFile::add_events(std::span<const EventRecord> events) {
  const std::size_t strings = strings_.size();
  const std::size_t tracks = tracks_.size();
  for (const EventRecord& event : events) {
    const StringId top = std::max({event.name, event.category, event.attrs, event.domain});
    if (top >= strings || event.track >= tracks) ++damage_.invalid_records;
  }
  blocks_.push_back(events);
  event_count_ += events.size();
}

}  // namespace teller
