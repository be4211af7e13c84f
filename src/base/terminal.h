// Text that comes from traces, made safe to show to people.
#pragma once

#include <string>
#include <string_view>

namespace teller {

// `text` with everything that could steer a terminal made visible: control characters (C0, DEL,
// C1), bidirectional overrides, line separators and bytes that are no UTF-8 become \xNN or \uNNNN.
std::string printable(std::string_view text);

}  // namespace teller
