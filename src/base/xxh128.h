// XXH3-128 of data that arrives in pieces: finds damage, and tells the same bytes again, at the
// speed of memory. Not made against forgery; where that matters there is sha256.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace teller {

// libxxhash behind one small class.
class Xxh128 {
 public:
  Xxh128();
  Xxh128(Xxh128&&) noexcept;
  Xxh128& operator=(Xxh128&&) noexcept;
  ~Xxh128();
  void update(std::string_view data);
  // The digest of all that was given so far, as 32 hexadecimal digits: what xxh128sum prints.
  std::string hex() const;

 private:
  struct Free {
    void operator()(void* state) const;
  };
  std::unique_ptr<void, Free> state_;  // XXH3_state_t
};

}  // namespace teller
