// What fuzz targets share: readers take paths, so inputs go through a file in memory; and what a
// target demands of an answer ends the process with a word about it.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace teller::fuzz {

// A folder of this process, in memory where the machine has such, removed at its end.
class Folder {
 public:
  Folder() {
    std::error_code error;
    const std::string base = std::filesystem::is_directory("/dev/shm", error) ? "/dev/shm" : "/tmp";
    path_ = base + "/teller-fuzz-" + std::to_string(getpid());
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline const Folder& folder() {
  static const Folder made;
  return made;
}

// Writes `bytes` to the file `name` of the folder and returns its path.
inline std::string put(const std::string& name, std::string_view bytes) {
  const std::string path = folder().file(name);
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A format with checks in it: `read` gets the path of the file as it is, and of the same file with
// its checks made right by `mend`, so that more than checks are tried.
template <typename Mend, typename Read>
int fuzz_checked_file(const std::uint8_t* data, std::size_t size, Mend mend, Read read) {
  std::string bytes(text_of(data, size));
  read(put("raw", bytes));
  mend(bytes);
  read(put("mended", bytes));
  return 0;
}

// Takes numbers and texts off an input that a target puts together itself.
class Taker {
 public:
  Taker(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}
  std::uint32_t number() {
    const std::string_view taken = take(1);
    return taken.empty() ? 0 : static_cast<unsigned char>(taken[0]);
  }
  // At most `most`; how many is said by the two bytes before them.
  std::string_view bytes(std::size_t most) {
    const std::size_t low = number();
    return take((low | std::size_t{number()} << 8) % (most + 1));
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view rest_;
};

inline void demand(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

}  // namespace teller::fuzz
