// The newest records of one process, as they came out of its arena: what `teller trace --last`
// keeps in memory until something asks for it as events.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/arena_reader.h"
#include "capture/done_ids.h"
#include "capture/teller_names.h"

namespace teller::capture {

// A record outside its arena: RecordHeader and payload, end to end.
struct KeptRecord {
  std::uint32_t ring = 0;
  std::string bytes;
};

// What is still true of records that are no longer kept: the threads of the rings, the ranges
// that had not ended, and which launches had. Bounded: of a program that never ends its ranges the
// oldest are forgotten.
class EarlierState {
 public:
  // Takes in a record that is about to be forgotten.
  void take(std::uint32_t ring, const ring::RecordHeader& header, std::string_view payload);
  // Says again what is still true, with the times that it had.
  void replay(ArenaSink& sink) const;
  std::uint64_t bytes() const { return bytes_ + done_.bytes(); }

 private:
  struct Ring {
    KeptRecord thread;
    std::map<std::uint32_t, std::vector<KeptRecord>> open;  // by domain, outermost first
  };
  void push(std::vector<KeptRecord>& stack, KeptRecord record);
  void start(std::uint64_t id, KeptRecord record);
  void end(std::uint64_t id);
  void activity(std::string_view payload);
  void begin_thread(std::uint32_t ring, KeptRecord record);
  void forget(const KeptRecord& record) { bytes_ -= record.bytes.size(); }

  std::map<std::uint32_t, Ring> rings_;
  struct Started {
    std::uint64_t order = 0;
    KeptRecord record;
  };
  std::map<std::uint64_t, Started> started_;       // by range id
  std::map<std::uint64_t, std::uint64_t> oldest_;  // their ids, as they came
  std::uint64_t next_order_ = 0;
  DoneIds done_;
  std::uint64_t bytes_ = 0;
};

// Not thread-safe. Time is when a record was drained, nanoseconds of CLOCK_MONOTONIC.
class RecordWindow : public ArenaSink {
 public:
  // `now_ns` for the records to come.
  void set_time(std::int64_t now_ns);

  void on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                     std::string_view text) override;
  void on_record(std::uint32_t ring, const ring::RecordHeader& header,
                 std::string_view payload) override;
  void on_open_call(std::uint32_t ring, const ring::OpenCall& call) override;
  void on_launch(const ring::Launch& launch) override;

  // Forgets whole chunks (a few hundred KiB, or a sixty-fourth of a minute) older than `time_ns`.
  void forget_before(std::int64_t time_ns);
  // Forgets the oldest chunk. False if there is none.
  bool forget_oldest();
  // Hands to `sink` what is kept, as if it came from the arena now.
  void replay(ArenaSink& sink) const;

  // Time of the oldest chunk; kNever if nothing is kept.
  static constexpr std::int64_t kNever = INT64_MAX;
  std::int64_t oldest_ns() const { return chunks_.empty() ? kNever : chunks_.front().begin_ns; }
  // Bytes that can be forgotten, and those that cannot: names, and ranges that are open.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t fixed_bytes() const { return fixed_bytes_ + earlier_.bytes(); }
  std::uint64_t records_seen() const { return records_seen_; }
  std::uint64_t records_forgotten() const { return records_forgotten_; }

 private:
  struct Definition {
    ring::DefinitionKind kind;
    std::uint32_t domain;
    std::uint64_t id;
    std::string text;
  };
  struct Chunk {
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::uint64_t records = 0;
    std::string bytes;  // entries: u32 ring, u32 bytes of payload, RecordHeader, payload
  };
  void forget_front();

  std::vector<Definition> definitions_;
  TellerNames names_;
  KeptRecord hook_counts_;  // the newest: it is sent only when it changes
  EarlierState earlier_;
  std::deque<Chunk> chunks_;
  std::vector<std::pair<std::uint32_t, ring::OpenCall>> open_calls_;
  std::vector<std::string> launches_;  // bytes of ring::Launch, which cannot be copied otherwise
  std::int64_t now_ns_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t fixed_bytes_ = 0;  // of definitions
  std::uint64_t records_seen_ = 0;
  std::uint64_t records_forgotten_ = 0;
};

}  // namespace teller::capture
