// What a line of logs.jsonl says beside its message, for programs.
#pragma once

#include <nlohmann/json.hpp>

namespace teller {

// Adds `fields` to a record of logs.jsonl: format, level, process, pid, source, ranks, requests and
// message, each where the line states it. The rest of an over-long line has none.
void add_log_fields(nlohmann::ordered_json& record);

}  // namespace teller
