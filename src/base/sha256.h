// SHA-256 of data that arrives in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace teller {

// libcrypto behind one small class.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();
  void update(std::string_view data);
  // The digest of all that was given, as 64 hexadecimal digits. The object can't be used
  // afterwards.
  std::string hex();

 private:
  struct Free {
    void operator()(void* context) const;
  };
  std::unique_ptr<void, Free> context_;  // EVP_MD_CTX
};

}  // namespace teller
