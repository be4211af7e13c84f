// Prints chains.tcol table by table.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "dump/dump.h"

namespace teller {

// Names of the tables of chains.tcol, in file order.
bool is_chains_table(std::string_view table);
// Prints `table` ("" = all) of the chains at `path`.
Status dump_chains(const std::string& path, std::string_view table, const DumpOptions& options,
                   std::ostream& out);

}  // namespace teller
