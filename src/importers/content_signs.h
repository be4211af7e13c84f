// What the first bytes of a file, inflated, show it to be: how traces are found among other files.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

// As much of a file as is looked at. Traces name their events within it, behind the metadata.
inline constexpr std::size_t kSignBytes = 1u << 20;

// Up to kSignBytes of a regular file, inflated if it is compressed; what is damaged is cut off.
// Fails with kInterrupted once `stop` (may be null) is set.
Result<std::string> inflated_head(const std::string& path, const std::atomic<bool>* stop);

enum class JsonDialect {
  kNone,            // no JSON, or no trace that can be told
  kKineto,          // a Chrome trace: an object with "traceEvents", or an array of events
  kExecutionTrace,  // PyTorch's execution trace (Chakra)
  kOtlp,            // OpenTelemetry
};
// Which kind of trace a JSON text is, by the keys of its top-level object. `head` is its start, as
// much as was read.
JsonDialect json_dialect(std::string_view head);
// A tar archive: a header block whose checksum is right.
bool is_tar(std::string_view head);

}  // namespace teller
