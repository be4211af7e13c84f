// SHA-256 of data that arrives in pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace teller {

// Uses the processor's SHA instructions where it has them (about ten times as fast as plain code).
class Sha256 {
 public:
  Sha256();
  void update(std::string_view data);
  // The digest of all that was given, as 64 hexadecimal digits. The object can't be used
  // afterwards.
  std::string hex();

 private:
  void compress(const std::uint8_t* blocks, std::size_t count);

  std::array<std::uint32_t, 8> state_;
  std::array<std::uint8_t, 64> pending_;  // the bytes behind the last whole block
  std::size_t pending_size_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace teller
