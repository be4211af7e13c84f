#include "base/sha256.h"

#include <sha256.h>

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define TELLER_SHA_NI 1
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace teller {

namespace {

constexpr std::size_t kBlock = 64;

using State = std::array<std::uint32_t, 8>;

#ifdef TELLER_SHA_NI
// FIPS 180-4, section 4.2.2.
alignas(16) constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

bool has_sha_instructions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  const bool sse41 = (c & (1u << 19)) != 0 && (c & (1u << 9)) != 0;
  return sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
}

// The instructions keep the state as {A,B,E,F} and {C,D,G,H}, and do two rounds at a time.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha(State& state,
                                                              const std::uint8_t* data,
                                                              std::size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto* words = reinterpret_cast<const __m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xB1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1B);
  __m128i abef = _mm_alignr_epi8(badc, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, badc, 0xF0);
  for (; count > 0; --count, data += kBlock) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i w[4];
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      __m128i& now = w[i & 3];
      if (i < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data) + i), swap);
      } else {
        const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(now, w[(i + 1) & 3]),
                                          _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        now = _mm_sha256msg2_epu32(sum, w[(i + 3) & 3]);
      }
      const __m128i k = _mm_load_si128(reinterpret_cast<const __m128i*>(kRound) + i);
      const __m128i wk = _mm_add_epi32(now, k);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0E));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1B);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xB1);
  auto* out = reinterpret_cast<__m128i*>(state.data());
  _mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xF0));
  _mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

Sha256::Sha256()
    : state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
      pending_{} {}

void Sha256::compress(const std::uint8_t* blocks, std::size_t count) {
#ifdef TELLER_SHA_NI
  static const bool fast = has_sha_instructions();
  if (fast) return compress_sha(state_, blocks, count);
#endif
  for (; count > 0; --count, blocks += kBlock) SHA256Transform(state_.data(), blocks);
}

void Sha256::update(std::string_view data) {
  total_bytes_ += data.size();
  if (pending_size_ > 0) {
    const std::size_t take = std::min(data.size(), kBlock - pending_size_);
    std::memcpy(pending_.data() + pending_size_, data.data(), take);
    pending_size_ += take;
    data.remove_prefix(take);
    if (pending_size_ < kBlock) return;
    compress(pending_.data(), 1);
    pending_size_ = 0;
  }
  compress(reinterpret_cast<const std::uint8_t*>(data.data()), data.size() / kBlock);
  data.remove_prefix(data.size() / kBlock * kBlock);
  if (!data.empty()) std::memcpy(pending_.data(), data.data(), data.size());
  pending_size_ = data.size();
}

std::string Sha256::hex() {
  const std::uint64_t bits = total_bytes_ * 8;
  std::string tail(1, '\x80');
  tail.resize(1 + (kBlock + 55 - pending_size_) % kBlock, '\0');
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift);
  update(tail);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(word >> shift) & 15];
  }
  return text;
}

}  // namespace teller
