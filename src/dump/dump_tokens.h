// Prints tokens.tcol table by table.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "dump/dump.h"

namespace teller {

// One of "units", "tokens", "edges".
bool is_tokens_table(std::string_view table);
// Prints `table` ("" = all) of the tokens at `path`, which belong to the chains at `chains_path`.
Status dump_tokens(const std::string& path, const std::string& chains_path, std::string_view table,
                   const DumpOptions& options, std::ostream& out);

}  // namespace teller
