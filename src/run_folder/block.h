// Blocks of an event file: header, checks, padding. Private to run_folder/ and its tests.
#pragma once

#include <xxhash.h>

#include <string_view>

#include "run_folder/event_file.h"

namespace teller {

inline constexpr char kEventFileMagic[8] = {'\x89', 'T', 'L', 'R', 'E', 'V', '\r', '\n'};

// Payloads are padded to 8 bytes, so that events are aligned in the map.
constexpr std::size_t padded_size(std::size_t size) {
  return (size + 7) & ~std::size_t{7};
}

// Checksum of a block: payload and header, the header's own check field taken as 0.
inline std::uint64_t block_check(BlockHeader header, std::string_view payload) {
  header.check = 0;
  return XXH3_64bits_withSeed(payload.data(), payload.size(), XXH3_64bits(&header, sizeof header));
}

inline BlockHeader make_block_header(BlockKind kind, std::uint32_t records, std::uint32_t first_id,
                                     std::string_view payload) {
  BlockHeader header{
      kBlockMark, static_cast<std::uint16_t>(kind), 0, payload.size(), records, first_id, 0};
  header.check = block_check(header, payload);
  return header;
}

}  // namespace teller
