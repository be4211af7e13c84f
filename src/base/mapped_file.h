// A whole file mapped read-only.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "teller/result.h"

namespace teller {

// Read-only map of a regular file. Move-only. The file must not shrink while it is mapped; run
// folders publish files by rename, so theirs never do.
class MappedFile {
 public:
  MappedFile() = default;
  // Maps `path`; `what` names it in errors ("event file"). Folders, devices and missing files give
  // one clear line.
  static Result<MappedFile> open(const std::string& path, std::string_view what);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::string_view text() const { return {data_, size_}; }
  const char* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace teller
