// Column files (chains, slices, tokens), as they are and with their checks made right.
#include <xxhash.h>

#include <cstring>

#include "fuzz_file.h"
#include "run_folder/chains.h"
#include "run_folder/column_file.h"
#include "run_folder/slices.h"
#include "run_folder/tokens.h"

namespace teller::fuzz {

namespace {

void mend_checks(std::string& file) {
  ColumnFileHeader header{};
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  const std::size_t most = file.size() / sizeof(ColumnEntry);
  if (header.columns > most || header.directory_offset > file.size()) return;
  const std::size_t bytes = header.columns * sizeof(ColumnEntry);
  if (bytes > file.size() - header.directory_offset) return;
  for (std::uint32_t i = 0; i < header.columns; ++i) {
    const std::size_t at = header.directory_offset + i * sizeof(ColumnEntry);
    ColumnEntry entry;
    std::memcpy(&entry, file.data() + at, sizeof entry);
    if (entry.offset > file.size() || entry.element_bytes == 0) continue;
    if (entry.count > (file.size() - entry.offset) / entry.element_bytes) continue;
    entry.check = XXH3_64bits(file.data() + entry.offset, entry.element_bytes * entry.count);
    std::memcpy(file.data() + at, &entry, sizeof entry);
  }
  header.directory_check = XXH3_64bits(file.data() + header.directory_offset, bytes);
  std::memcpy(file.data(), &header, sizeof header);
}

void read(const std::string& path) {
  const auto chains = Chains::open(path);
  if (!chains) return;
  std::size_t sum = 0;
  for (std::size_t node = 0; node < chains->node_count(); ++node) {
    sum += chains->string(chains->nodes.name[node]).size();
    sum += static_cast<std::size_t>(chains->rank(static_cast<std::uint32_t>(node)) + 2);
  }
  demand(sum + 1 > 0, "no sum");
  // One file may hold all three kinds of table.
  const auto slices = Slices::open(path, *chains);
  const auto tokens = Tokens::open(path, *chains);
  static_cast<void>(slices);
  static_cast<void>(tokens);
}

}  // namespace

int fuzz_column_file(const std::uint8_t* data, std::size_t size) {
  return fuzz_checked_file(data, size, mend_checks, read);
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_column_file(data, size);
}
