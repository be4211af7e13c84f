// The recorder's side of a process's arena (teller/ring.h). The process is not trusted: nothing
// read here is used as a size or an index before it was checked, on a copy that the process cannot
// change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"
#include "teller/ring.h"

namespace teller::capture {

class DoneIds;

// What comes out of an arena, in order. Views live as long as the call.
class ArenaSink {
 public:
  virtual ~ArenaSink() = default;
  virtual void on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                             std::string_view text) = 0;
  // `payload` is what follows the RecordHeader, padding included.
  virtual void on_record(std::uint32_t ring, const ring::RecordHeader& header,
                         std::string_view payload) = 0;
  // A call that had not ended when the process did.
  virtual void on_open_call(std::uint32_t ring, const ring::OpenCall& call) = 0;
  // One of the latest launches of a process that has ended.
  virtual void on_launch(const ring::Launch&) {}
  // Activities with these ids had come; their records are no longer kept.
  virtual void on_done(const DoneIds&) {}
};

// What CUPTI could not give, and how its clock relates to ours.
struct CudaCounts {
  std::uint64_t unknown = 0;
  std::uint64_t malformed = 0;
  std::uint64_t buffers_refused = 0;
  bool activities = false;  // activity records come
  ring::CudaClock clock = ring::CudaClock::kNone;
  std::int64_t clock_offset_ns = 0;
  std::int64_t clock_first_ns = 0;
  std::uint64_t clock_error_ns = 0;
  std::uint64_t clock_count = 0;
};

// What a process could not record, as it counts itself.
struct ArenaLosses {
  std::uint64_t dropped = 0;
  std::uint64_t dropped_ranges = 0;
  std::uint64_t cut = 0;
  std::uint64_t without_ring = 0;
  std::uint64_t definitions = 0;
  std::uint64_t device_dropped = 0;
  std::uint64_t corrupt = 0;  // times that a ring or definition made no sense
  CudaCounts cuda;
};

class ArenaReader {
 public:
  // Maps and checks the arena behind `fd`; does not close it.
  static Result<ArenaReader> map(int fd);
  ArenaReader(ArenaReader&& other) noexcept;
  ArenaReader& operator=(ArenaReader&&) = delete;
  ~ArenaReader();

  // Hands everything that is complete to `sink` and makes room. Returns the bytes taken from the
  // fullest ring.
  std::uint64_t drain(ArenaSink& sink);
  // After the last drain() of a process that has ended.
  void report_unfinished(ArenaSink& sink);
  // Tells the process that nobody listens any more.
  void stop();
  ArenaLosses losses() const;

 private:
  struct Ready {
    std::uint32_t ring;
    std::uint64_t head;
    bool closed;
  };
  ArenaReader() = default;
  ring::RingHeader* ring_at(std::uint32_t index) const;
  std::uint32_t rings_used() const;
  void read_definitions(ArenaSink& sink);
  bool read_definition(std::uint64_t offset, std::uint32_t size, ArenaSink& sink);
  std::uint64_t read_ring(const Ready& ready, ArenaSink& sink);
  static void report_launches(const ring::RingHeader& ring, ArenaSink& sink);
  void parse(std::uint32_t ring, std::string_view bytes, std::uint64_t tail, ArenaSink& sink);

  char* base_ = nullptr;
  ring::ArenaHeader* header_ = nullptr;
  // Copies of the header's layout, checked once.
  std::uint64_t bytes_ = 0;
  std::uint64_t definition_offset_ = 0;
  std::uint64_t definition_bytes_ = 0;
  std::uint64_t ring_offset_ = 0;
  std::uint32_t ring_count_ = 0;
  std::uint32_t ring_stride_ = 0;
  std::uint32_t ring_data_bytes_ = 0;
  std::uint64_t definitions_read_ = 0;
  std::vector<std::uint64_t> unpublished_;  // offsets of definitions that were not complete
  std::uint64_t corrupt_ = 0;
  std::string copy_;
};

}  // namespace teller::capture
