#include "base/xxh128.h"

#include <xxhash.h>

#include <new>

#include "base/hex.h"

namespace teller {

namespace {

template <typename Holder>
XXH3_state_t* xxh3(const Holder& state) {
  return static_cast<XXH3_state_t*>(state.get());
}

}  // namespace

void Xxh128::Free::operator()(void* state) const {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

Xxh128::Xxh128() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(xxh3(state_));
}
Xxh128::Xxh128(Xxh128&&) noexcept = default;
Xxh128& Xxh128::operator=(Xxh128&&) noexcept = default;
Xxh128::~Xxh128() = default;

void Xxh128::update(std::string_view data) {
  XXH3_128bits_update(xxh3(state_), data.data(), data.size());
}

std::string Xxh128::hex() const {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits_digest(xxh3(state_)));
  return hex_text(bytes.digest);
}

}  // namespace teller
