// Buffers as CUPTI has them: asked for, filled with records end to end, handed over.
#include <cstring>
#include <map>
#include <mutex>

#include "fake.h"

namespace {

std::recursive_mutex g_mutex;
CUpti_BuffersCallbackRequestFunc g_request = nullptr;
CUpti_BuffersCallbackCompleteFunc g_complete = nullptr;
std::size_t g_dropped = 0;

struct Buffer {
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t used = 0;
};
Buffer g_buffer;
bool g_hoard = false;  // keep what is full, as a CUPTI whose worker does not get to it
std::vector<Buffer> g_hoarded;
std::vector<fake::Bytes> g_unended;
// Where the records of each buffer begin: scripted ones may be of any size.
std::map<const std::uint8_t*, std::vector<std::size_t>> g_records;

bool take_buffer() {
  std::size_t records = 0;
  g_buffer = {};
  if (g_request != nullptr) g_request(&g_buffer.bytes, &g_buffer.size, &records);
  if (g_buffer.bytes == nullptr) return false;
  g_records[g_buffer.bytes].clear();
  return true;
}

}  // namespace

namespace fake {

void emit(const Bytes& record) {
  const std::lock_guard lock(g_mutex);
  if (g_buffer.bytes != nullptr && g_buffer.size - g_buffer.used < record.size()) {
    if (g_hoard) {
      g_hoarded.push_back(g_buffer);
      g_buffer = {};
    } else {
      deliver();
    }
  }
  if (g_buffer.bytes == nullptr && !take_buffer()) return count_dropped(1);
  std::memcpy(g_buffer.bytes + g_buffer.used, record.data(), record.size());
  g_records[g_buffer.bytes].push_back(g_buffer.used);
  g_buffer.used += record.size();
}

void deliver() {
  const std::lock_guard lock(g_mutex);
  if (g_hoard) return;
  std::vector<Buffer> full = std::move(g_hoarded);
  g_hoarded.clear();
  if (g_buffer.bytes != nullptr) full.push_back(g_buffer);
  g_buffer = {};
  for (const Buffer& buffer : full) {
    if (g_complete != nullptr) g_complete(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
  }
}

void emit_at_end(const Bytes& record) {
  const std::lock_guard lock(g_mutex);
  g_unended.push_back(record);
}

void emit_unended() {
  const std::lock_guard lock(g_mutex);
  for (const Bytes& record : g_unended) emit(record);
  g_unended.clear();
}

void count_dropped(std::size_t records) {
  const std::lock_guard lock(g_mutex);
  g_dropped += records;
}

}  // namespace fake

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(g_mutex);
  g_request = request;
  g_complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t, CUpti_Activity** record) {
  const std::lock_guard lock(g_mutex);
  const std::vector<std::size_t>& begins = g_records[buffer];
  std::size_t next = 0;
  if (*record != nullptr) {
    const auto before = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer);
    while (next < begins.size() && begins[next] <= before) ++next;
  }
  if (next >= begins.size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(buffer + begins[next]);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(g_mutex);
  *dropped = g_dropped;
  g_dropped = 0;
  return CUPTI_SUCCESS;
}

void fake_hoard(int hoard) {
  const std::lock_guard lock(g_mutex);
  g_hoard = hoard != 0;
}

}  // extern "C"
