// Tells by its first keys which kind of trace a JSON text is.
#pragma once

#include <string>
#include <string_view>

namespace teller {

enum class JsonDialect {
  kKineto,  // a Chrome trace: also what can't be told, so that its reader says what is wrong
  kExecutionTrace,  // PyTorch's execution trace (Chakra)
  kOtlp,            // OpenTelemetry
};

// The start of the text in a file that begins with `head`: inflated if that is gzip, as far as it
// goes.
std::string plain_head(std::string_view head);

// `head` is the start of the text, as much of it as was read (some KiB are plenty: the keys that
// tell stand before what they hold).
JsonDialect json_dialect(std::string_view head);

}  // namespace teller
