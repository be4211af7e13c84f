// What NVTX gives us in the place of texts and names: handles of domains and registered strings,
// wide strings. [callback]
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstdint>

#include "preload/recorder.h"

namespace teller::collector {

// A wide string as UTF-8 on the stack; longer ones are cut, as the limit of text_of() would be too
// much stack.
class WideText {
 public:
  explicit WideText(const wchar_t* wide) noexcept {
    if (wide == nullptr) return;
    for (; *wide != 0; ++wide) {
      if (used_ + 4 > sizeof buffer_) {
        cut_ = true;
        break;
      }
      append(static_cast<std::uint32_t>(*wide));
    }
  }
  Text text() const noexcept { return {buffer_, used_, 0, cut_}; }

 private:
  void put(std::uint32_t byte) noexcept { buffer_[used_++] = static_cast<char>(byte); }
  void append(std::uint32_t code) noexcept {
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = 0xfffd;
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  char buffer_[4096];
  std::uint32_t used_ = 0;
  bool cut_ = false;
};

// Id of a domain in the definitions; 0 for the default one. Domains that the program made up share
// one.
std::uint32_t domain_id(nvtxDomainHandle_t domain) noexcept;
nvtxDomainHandle_t create_domain(const Text& name) noexcept;

nvtxStringHandle_t register_string(nvtxDomainHandle_t domain, const Text& text) noexcept;
// No text for a handle that is not ours.
Text registered_text(nvtxStringHandle_t handle) noexcept;

}  // namespace teller::collector
