// What stands before a log line to say which process wrote it. Private to logs/.
#pragma once

#include <string_view>

#include "logs/line.h"

namespace teller {

// Takes "(EngineCore_DP0 pid=15638) (Worker_TP3 pid=200085, ip=…) ", "(raylet) ", "[rank3]:" and
// "[default0]:" off the front of `text`, as many as stand there; the innermost process wrote it.
void take_prefixes(std::string_view& text, LogFields& fields);

// Reads " DP0 PP1 TP3 EP0" or "_DP0_TP3" into `ranks`: each word of `text` that is a rank's.
void read_ranks(std::string_view text, LogRanks& ranks);
// A rank: digits only, below ten million. -1 if `text` is none.
std::int32_t rank_number(std::string_view text);

}  // namespace teller
