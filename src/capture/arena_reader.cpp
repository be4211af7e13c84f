#include "capture/arena_reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace teller::capture {

using ring::ArenaHeader;
using ring::Definition;
using ring::RecordHeader;
using ring::RingHeader;
using ring::RingState;

namespace {

constexpr std::uint64_t kArenaLimit = 1u << 30;

Error not_an_arena(const char* why) {
  return {ErrorCode::kCorrupt, std::string("taking over a process: ") + why, ""};
}

}  // namespace

Result<ArenaReader> ArenaReader::map(int fd) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return errno_error("looking at a process's memory", errno);
  // A process that could shrink its arena could kill the recorder by SIGBUS.
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return not_an_arena("its memory is not sealed");
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (bytes < ring::kArenaHeaderBytes || bytes > kArenaLimit) return not_an_arena("wrong size");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return errno_error("mapping a process's memory", errno);
  ArenaReader reader;
  reader.base_ = static_cast<char*>(memory);
  reader.bytes_ = bytes;
  reader.header_ = static_cast<ArenaHeader*>(memory);
  const ArenaHeader& header = *reader.header_;
  if (header.magic != ring::kArenaMagic || header.version != ring::kArenaVersion) {
    return not_an_arena("another version of the collector");
  }
  reader.definition_offset_ = header.definition_offset;
  reader.definition_bytes_ = header.definition_bytes;
  reader.ring_offset_ = header.ring_offset;
  reader.ring_count_ = header.ring_count;
  reader.ring_stride_ = header.ring_stride;
  reader.ring_data_bytes_ = header.ring_data_bytes;
  const std::uint64_t rings = std::uint64_t{reader.ring_count_} * reader.ring_stride_;
  const bool fits =
      reader.ring_count_ <= ring::kMaxRings && std::has_single_bit(reader.ring_data_bytes_) &&
      reader.ring_stride_ >= ring::kRingHeaderBytes + std::uint64_t{reader.ring_data_bytes_} &&
      reader.ring_stride_ % 64 == 0 && reader.ring_offset_ % 64 == 0 &&
      reader.ring_offset_ <= bytes && rings <= bytes - reader.ring_offset_ &&
      reader.definition_offset_ % 8 == 0 && reader.definition_offset_ <= bytes &&
      reader.definition_bytes_ <= bytes - reader.definition_offset_;
  if (!fits) return not_an_arena("its layout makes no sense");
  return reader;
}

ArenaReader::ArenaReader(ArenaReader&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      header_(std::exchange(other.header_, nullptr)),
      bytes_(other.bytes_),
      definition_offset_(other.definition_offset_),
      definition_bytes_(other.definition_bytes_),
      ring_offset_(other.ring_offset_),
      ring_count_(other.ring_count_),
      ring_stride_(other.ring_stride_),
      ring_data_bytes_(other.ring_data_bytes_),
      definitions_read_(other.definitions_read_),
      unpublished_(std::move(other.unpublished_)),
      corrupt_(other.corrupt_),
      copy_(std::move(other.copy_)) {}

ArenaReader::~ArenaReader() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

RingHeader* ArenaReader::ring_at(std::uint32_t index) const {
  return reinterpret_cast<RingHeader*>(base_ + ring_offset_ + std::uint64_t{index} * ring_stride_);
}

std::uint32_t ArenaReader::rings_used() const {
  return std::min(header_->rings_used.load(std::memory_order_acquire), ring_count_);
}

std::uint64_t ArenaReader::drain(ArenaSink& sink) {
  // Heads first, definitions second, records last: a record up to these heads uses only definitions
  // that were complete before it was written, whichever thread made them.
  std::vector<Ready> ready;
  const std::uint32_t used = rings_used();
  for (std::uint32_t i = 0; i < used; ++i) {
    const auto state = header_->ring_state[i].load(std::memory_order_acquire);
    const bool closed = state == static_cast<std::uint32_t>(RingState::kClosed);
    RingHeader* ring = ring_at(i);
    const std::uint64_t head = ring->head.load(std::memory_order_acquire);
    if (closed || head != ring->tail.load(std::memory_order_relaxed)) {
      ready.push_back({i, head, closed});
    }
  }
  read_definitions(sink);
  std::uint64_t fullest = 0;
  for (const Ready& item : ready) fullest = std::max(fullest, read_ring(item, sink));
  header_->drains.fetch_add(1, std::memory_order_release);
  return fullest;
}

void ArenaReader::read_definitions(ArenaSink& sink) {
  std::erase_if(unpublished_, [&](std::uint64_t offset) {
    const auto* entry = reinterpret_cast<const Definition*>(base_ + definition_offset_ + offset);
    return read_definition(offset, entry->size.load(std::memory_order_acquire), sink);
  });
  const std::uint64_t used =
      std::min(header_->definitions_used.load(std::memory_order_acquire), definition_bytes_);
  while (definitions_read_ + sizeof(Definition) <= used) {
    const std::uint64_t offset = definitions_read_;
    const auto* entry = reinterpret_cast<const Definition*>(base_ + definition_offset_ + offset);
    const std::uint32_t size = entry->size.load(std::memory_order_acquire);
    if (size == 0) return;  // its writer has not got so far
    if (size % 8 != 0 || size < sizeof(Definition) || size > used - offset) {
      ++corrupt_;
      definitions_read_ = definition_bytes_;
      return;
    }
    if (!read_definition(offset, size, sink)) unpublished_.push_back(offset);
    definitions_read_ += size;
  }
}

// False if the entry is not complete yet.
bool ArenaReader::read_definition(std::uint64_t offset, std::uint32_t size, ArenaSink& sink) {
  const auto* entry = reinterpret_cast<const Definition*>(base_ + definition_offset_ + offset);
  const std::uint32_t kind = entry->kind.load(std::memory_order_acquire);
  if (kind == 0) return false;
  const std::uint32_t text_bytes = entry->text_bytes;
  if (size < sizeof(Definition) || size > definition_bytes_ - offset ||
      text_bytes > size - sizeof(Definition)) {
    ++corrupt_;
    return true;
  }
  const std::string text(reinterpret_cast<const char*>(entry) + sizeof(Definition), text_bytes);
  sink.on_definition(static_cast<ring::DefinitionKind>(kind), entry->domain, entry->id, text);
  return true;
}

std::uint64_t ArenaReader::read_ring(const Ready& ready, ArenaSink& sink) {
  RingHeader* ring = ring_at(ready.ring);
  const std::uint64_t tail = ring->tail.load(std::memory_order_relaxed);
  const std::uint64_t size = ready.head - tail;
  if (size > ring_data_bytes_ || size % 8 != 0 || tail % 8 != 0) {
    ++corrupt_;
    ring->tail.store(ready.head, std::memory_order_release);
    return 0;
  }
  const char* data = reinterpret_cast<const char*>(ring) + ring::kRingHeaderBytes;
  const std::uint64_t position = tail & (ring_data_bytes_ - 1);
  const std::uint64_t first = std::min<std::uint64_t>(size, ring_data_bytes_ - position);
  copy_.assign(data + position, first);
  copy_.append(data, size - first);
  ring->tail.store(ready.head, std::memory_order_release);
  parse(ready.ring, copy_, tail, sink);
  // The thread was gone before its head was read, so nothing more can come.
  if (ready.closed) {
    header_->ring_state[ready.ring].store(static_cast<std::uint32_t>(RingState::kFree),
                                          std::memory_order_release);
  }
  return size;
}

void ArenaReader::parse(std::uint32_t ring, std::string_view bytes, std::uint64_t tail,
                        ArenaSink& sink) {
  while (bytes.size() >= 8) {
    RecordHeader header{};
    std::memcpy(&header, bytes.data(), std::min(sizeof header, bytes.size()));
    const std::uint64_t to_end = ring_data_bytes_ - (tail & (ring_data_bytes_ - 1));
    const bool is_pad = header.type == static_cast<std::uint16_t>(ring::RecordType::kPad);
    const std::size_t least = is_pad ? 8 : sizeof header;
    if (header.size % 8 != 0 || header.size < least || header.size > bytes.size() ||
        header.size > to_end) {
      ++corrupt_;
      return;
    }
    if (!is_pad) {
      sink.on_record(ring, header, bytes.substr(sizeof header, header.size - sizeof header));
    }
    tail += header.size;
    bytes.remove_prefix(header.size);
  }
}

void ArenaReader::report_unfinished(ArenaSink& sink) {
  const std::uint32_t used = rings_used();
  for (std::uint32_t i = 0; i < used; ++i) {
    report_launches(*ring_at(i), sink);
    const auto state = header_->ring_state[i].load(std::memory_order_acquire);
    if (state != static_cast<std::uint32_t>(RingState::kLive)) continue;
    RingHeader* ring = ring_at(i);
    const std::uint32_t depth =
        std::min(ring->open_call_depth.load(std::memory_order_acquire), ring::kOpenCalls);
    for (std::uint32_t level = 0; level < depth; ++level) {
      ring::OpenCall call = ring->open_calls[level];
      call.name[ring::kCallNameBytes - 1] = 0;
      sink.on_open_call(i, call);
    }
  }
}

// A launch that its thread is writing, or was when the process ended, is left out.
void ArenaReader::report_launches(const RingHeader& ring, ArenaSink& sink) {
  for (const ring::Launch& kept : ring.launches) {
    const std::uint32_t sequence = kept.sequence.load(std::memory_order_acquire);
    if (sequence == 0 || sequence % 2 != 0) continue;
    ring::Launch launch{};
    std::memcpy(static_cast<void*>(&launch), static_cast<const void*>(&kept), sizeof launch);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (kept.sequence.load(std::memory_order_relaxed) != sequence) continue;
    launch.name[ring::kLaunchNameBytes - 1] = 0;
    sink.on_launch(launch);
  }
}

void ArenaReader::stop() {
  header_->stop.store(1, std::memory_order_relaxed);
}

ArenaLosses ArenaReader::losses() const {
  ArenaLosses losses;
  const std::uint32_t used = rings_used();
  for (std::uint32_t i = 0; i < used; ++i) {
    const RingHeader* ring = ring_at(i);
    losses.dropped += ring->dropped.load(std::memory_order_relaxed);
    losses.dropped_ranges += ring->dropped_ranges.load(std::memory_order_relaxed);
    losses.cut += ring->cut.load(std::memory_order_relaxed);
  }
  losses.without_ring = header_->events_without_ring.load(std::memory_order_relaxed);
  losses.definitions = header_->definitions_lost.load(std::memory_order_relaxed);
  losses.device_dropped = header_->device_dropped.load(std::memory_order_relaxed);
  losses.corrupt = corrupt_;
  const ring::CudaState& cuda = header_->cuda;
  losses.cuda = {cuda.unknown.load(std::memory_order_relaxed),
                 cuda.malformed.load(std::memory_order_relaxed),
                 cuda.buffers_refused.load(std::memory_order_relaxed),
                 cuda.activities.load(std::memory_order_relaxed) != 0,
                 static_cast<ring::CudaClock>(cuda.clock.load(std::memory_order_relaxed)),
                 cuda.clock_offset_ns.load(std::memory_order_relaxed),
                 cuda.clock_first_ns.load(std::memory_order_relaxed),
                 cuda.clock_error_ns.load(std::memory_order_relaxed),
                 cuda.clock_count.load(std::memory_order_relaxed)};
  return losses;
}

}  // namespace teller::capture
