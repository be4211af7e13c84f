#include "capture/record_window.h"

#include <cstring>

#include "capture/device_record.h"
#include "capture/record_bytes.h"

namespace teller::capture {

using ring::RecordHeader;
using ring::RecordType;

namespace {

constexpr std::size_t kChunkBytes = 256 << 10;
constexpr std::int64_t kChunkNs = 250000000;
// Of a program that never ends its ranges no more than these are remembered.
constexpr std::size_t kMaxOpen = 4096;
constexpr std::size_t kMaxStarted = 65536;
constexpr std::size_t kEntryBytes = 8 + sizeof(RecordHeader);

std::string packed(const RecordHeader& header, std::string_view payload) {
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  return bytes.append(payload);
}

void hand_over(const KeptRecord& record, ArenaSink& sink) {
  RecordHeader header{};
  std::memcpy(&header, record.bytes.data(), sizeof header);
  sink.on_record(record.ring, header, std::string_view(record.bytes).substr(sizeof header));
}

// The fixed part of a record with text, and its range id (0 if it has none).
bool read_fixed(const RecordHeader& header, std::string_view payload, ring::TextRecord* fixed,
                std::uint64_t* id) {
  if (payload.size() < sizeof *fixed) return false;
  std::memcpy(fixed, payload.data(), sizeof *fixed);
  payload.remove_prefix(sizeof *fixed);
  if ((header.flags & ring::kHasId) == 0 || payload.size() < sizeof *id) return true;
  std::memcpy(id, payload.data(), sizeof *id);
  return true;
}

// Calls `use(ring, header, payload)` for each entry of a chunk.
template <typename Use>
void for_each_entry(std::string_view bytes, Use use) {
  while (bytes.size() >= kEntryBytes) {
    std::uint32_t place[2];
    RecordHeader header{};
    std::memcpy(place, bytes.data(), sizeof place);
    std::memcpy(&header, bytes.data() + sizeof place, sizeof header);
    use(place[0], header, bytes.substr(kEntryBytes, place[1]));
    bytes.remove_prefix(kEntryBytes + place[1]);
  }
}

}  // namespace

void EarlierState::push(std::vector<KeptRecord>& stack, KeptRecord record) {
  bytes_ += record.bytes.size();
  stack.push_back(std::move(record));
  if (stack.size() <= kMaxOpen) return;
  forget(stack.front());
  stack.erase(stack.begin());
}

// Another thread has the ring: what the former left open is not the new one's.
void EarlierState::begin_thread(std::uint32_t ring, KeptRecord record) {
  Ring& state = rings_[ring];
  for (const auto& [domain, stack] : state.open) {
    for (const KeptRecord& open : stack) forget(open);
  }
  state.open.clear();
  forget(state.thread);
  bytes_ += record.bytes.size();
  state.thread = std::move(record);
}

void EarlierState::start(std::uint64_t id, KeptRecord record) {
  end(id);
  bytes_ += record.bytes.size();
  oldest_.emplace(next_order_, id);
  started_.emplace(id, Started{next_order_++, std::move(record)});
  if (started_.size() > kMaxStarted) end(oldest_.begin()->second);
}

void EarlierState::end(std::uint64_t id) {
  const auto found = started_.find(id);
  if (found == started_.end()) return;
  forget(found->second.record);
  oldest_.erase(found->second.order);
  started_.erase(found);
}

void EarlierState::activity(std::string_view payload) {
  ring::DeviceRecord activity{};
  if (!teller::capture::take(payload, &activity)) return;
  if (runs_on_device(static_cast<ring::DeviceKind>(activity.kind))) done_.add(activity.correlation);
}

void EarlierState::take(std::uint32_t ring, const RecordHeader& header, std::string_view payload) {
  const auto type = static_cast<RecordType>(header.type);
  if (type == RecordType::kThread) return begin_thread(ring, {ring, packed(header, payload)});
  if (type == RecordType::kDevice) return activity(payload);
  ring::TextRecord fixed{};
  std::uint64_t id = 0;
  if (type == RecordType::kPush && read_fixed(header, payload, &fixed, &id)) {
    return push(rings_[ring].open[fixed.domain], {ring, packed(header, payload)});
  }
  if (type == RecordType::kPop && read_fixed(header, payload, &fixed, &id)) {
    std::vector<KeptRecord>& stack = rings_[ring].open[fixed.domain];
    if (stack.empty()) return;
    forget(stack.back());
    return stack.pop_back();
  }
  if (type == RecordType::kStart && read_fixed(header, payload, &fixed, &id)) {
    return start(id, {ring, packed(header, payload)});
  }
  if (type == RecordType::kEnd && read_fixed(header, payload, &fixed, &id)) end(id);
}

void EarlierState::replay(ArenaSink& sink) const {
  for (const auto& [number, ring] : rings_) {
    if (!ring.thread.bytes.empty()) hand_over(ring.thread, sink);
    for (const auto& [domain, stack] : ring.open) {
      for (const KeptRecord& record : stack) hand_over(record, sink);
    }
  }
  for (const auto& [order, id] : oldest_) hand_over(started_.at(id).record, sink);
  if (!done_.empty()) sink.on_done(done_);
}

void RecordWindow::set_time(std::int64_t now_ns) {
  now_ns_ = now_ns;
}

void RecordWindow::on_definition(ring::DefinitionKind kind, std::uint32_t domain, std::uint64_t id,
                                 std::string_view text) {
  names_.add(kind, domain, id, text);
  fixed_bytes_ += sizeof(Definition) + text.size();
  definitions_.push_back({kind, domain, id, std::string(text)});
}

void RecordWindow::on_record(std::uint32_t ring, const RecordHeader& header,
                             std::string_view payload) {
  if (names_.is_meta(header, payload)) hook_counts_ = {ring, packed(header, payload)};
  const bool full = chunks_.empty() || chunks_.back().bytes.size() >= kChunkBytes ||
                    now_ns_ - chunks_.back().begin_ns >= kChunkNs;
  if (full) {
    if (!chunks_.empty()) chunks_.back().bytes.shrink_to_fit();
    chunks_.emplace_back();
    chunks_.back().begin_ns = now_ns_;
  }
  Chunk& chunk = chunks_.back();
  const std::uint32_t place[2] = {ring, static_cast<std::uint32_t>(payload.size())};
  chunk.bytes.append(reinterpret_cast<const char*>(place), sizeof place);
  chunk.bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
  chunk.bytes.append(payload);
  chunk.end_ns = now_ns_;
  ++chunk.records;
  bytes_ += kEntryBytes + payload.size();
  ++records_seen_;
}

void RecordWindow::on_open_call(std::uint32_t ring, const ring::OpenCall& call) {
  open_calls_.emplace_back(ring, call);
}

void RecordWindow::on_launch(const ring::Launch& launch) {
  launches_.emplace_back(reinterpret_cast<const char*>(&launch), sizeof launch);
}

void RecordWindow::forget_front() {
  const Chunk& chunk = chunks_.front();
  for_each_entry(chunk.bytes,
                 [this](std::uint32_t ring, const RecordHeader& header, std::string_view payload) {
                   earlier_.take(ring, header, payload);
                 });
  bytes_ -= chunk.bytes.size();
  records_forgotten_ += chunk.records;
  chunks_.pop_front();
}

void RecordWindow::forget_before(std::int64_t time_ns) {
  while (!chunks_.empty() && chunks_.front().end_ns < time_ns) forget_front();
}

bool RecordWindow::forget_oldest() {
  if (chunks_.empty()) return false;
  forget_front();
  return true;
}

void RecordWindow::replay(ArenaSink& sink) const {
  for (const Definition& item : definitions_) {
    sink.on_definition(item.kind, item.domain, item.id, item.text);
  }
  if (!hook_counts_.bytes.empty()) hand_over(hook_counts_, sink);
  earlier_.replay(sink);
  for (const Chunk& chunk : chunks_) {
    for_each_entry(chunk.bytes,
                   [&sink](std::uint32_t ring, const RecordHeader& header,
                           std::string_view payload) { sink.on_record(ring, header, payload); });
  }
  for (const auto& [ring, call] : open_calls_) sink.on_open_call(ring, call);
  for (const std::string& kept : launches_) {
    ring::Launch launch{};
    std::memcpy(static_cast<void*>(&launch), kept.data(), sizeof launch);
    sink.on_launch(launch);
  }
}

}  // namespace teller::capture
