// Tells by its first keys which kind of trace a JSON text is.
#pragma once

#include <string_view>

namespace teller {

enum class JsonDialect {
  kKineto,  // a Chrome trace: also what can't be told, so that its reader says what is wrong
  kExecutionTrace,  // PyTorch's execution trace (Chakra)
  kOtlp,            // OpenTelemetry
};

// `head` is the start of the text, as much of it as was read (a MiB is plenty: the keys that tell
// stand before what they hold).
JsonDialect json_dialect(std::string_view head);

}  // namespace teller
