// The parts of the fake libcupti, to each other.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace fake {

using Bytes = std::vector<std::uint8_t>;
// Fields of a record by name, as text: what a script says, or a fake call.
using Fields = std::map<std::string, std::string>;

// Version that cuptiGetVersion answers: FAKE_CUPTI_VERSION, or that of the library.
std::uint32_t version();
bool is_enabled(CUpti_ActivityKind kind);
// The time of the fake CUPTI's clock: the registered callback's, or CLOCK_MONOTONIC and an offset.
std::uint64_t timestamp();

// A record of that name ("kernel", "memcpy", …) in the layout of version(); empty for no such name.
Bytes make_record(const std::string& name, const Fields& fields);

// Into a buffer of the collector; dropped, and counted, if it gives none.
void emit(const Bytes& record);
// Into a buffer when a flush is forced: what has not ended.
void emit_at_end(const Bytes& record);
void emit_unended();
// Hands over the buffer that is being filled.
void deliver();
void count_dropped(std::size_t records);

// Fires the callbacks of one call.
struct Call {
  bool driver = false;
  const char* name = "";
  const char* kernel = nullptr;
  std::uint32_t correlation = 0;
  std::uint32_t context = 1;
  int result = 0;
  std::uint64_t shared = 0;  // between begin and end
};
void enter(Call& call);
void leave(Call& call);

}  // namespace fake
