#include "base/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "base/hex.h"

namespace teller {

namespace {

template <typename Holder>
EVP_MD_CTX* evp(const Holder& context) {
  return static_cast<EVP_MD_CTX*>(context.get());
}

}  // namespace

void Sha256::Free::operator()(void* context) const {
  EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context));
}

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(evp(context_), EVP_sha256(), nullptr);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view data) {
  EVP_DigestUpdate(evp(context_), data.data(), data.size());
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(evp(context_), digest.data(), &size);
  return hex_text(std::span(digest).first(size));
}

}  // namespace teller
