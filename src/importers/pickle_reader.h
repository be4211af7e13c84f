// Reads Python pickles that hold nothing but data. What would import or call anything is refused:
// nothing of the file is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "teller/result.h"

namespace teller {

// Bounds of what is built, whatever the file asks for.
struct PickleLimits {
  std::size_t values = 4u << 20;        // made while reading, and in the tree that comes out
  std::size_t text_bytes = 256u << 20;  // of all strings in the tree
  std::size_t members = 4096;           // of one dict
  int depth = 64;                       // of nesting
};

// The one value that `bytes` holds, as JSON: dicts become objects (their keys are strings; of two
// equal ones the later value counts, as in Python), lists and tuples arrays, bytes strings. Reads
// protocols 2 to 5. Bytes after the value are an error. Errors say which opcode at which byte is
// wrong: kCorrupt for what is damaged, kUnsupported for what is no plain data or too large.
Result<nlohmann::ordered_json> read_pickle(std::string_view bytes, const PickleLimits& limits = {});

// Whether `head`, the beginning of a file, starts like a pickle of protocol 2 to 5.
bool is_pickle(std::string_view head);

}  // namespace teller
