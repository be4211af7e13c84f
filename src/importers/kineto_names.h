// The names of a trace's events as strings of its event file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "run_folder/event_file.h"

namespace teller {

// Writes each name once, as long as it can remember it: a writer keeps what it interns to its end,
// and a small file may inflate to any number of names.
class KinetoNames {
 public:
  // Remembers up to `most_bytes` of names, and one more.
  KinetoNames(EventFileWriter& writer, std::size_t most_bytes)
      : writer_(writer), most_bytes_(most_bytes) {}

  // To be called before each event: forgets all names if they are too many, and answers how often
  // it has. Ids from earlier rounds are as good as ever, but who keeps them must ask again, or what
  // is written would depend on who keeps which.
  std::uint64_t round() {
    if (bytes_ > most_bytes_) forget();
    return round_;
  }
  StringId id(std::string_view name) {
    const std::uint32_t number = known_.intern(name);
    if (number == ids_.size()) {
      bytes_ += name.size() + kEach;
      ids_.push_back(round_ == 0 ? writer_.intern(name) : writer_.append_text(name));
    }
    return ids_[number];
  }

 private:
  static constexpr std::size_t kEach = 64;  // what a name takes besides its text

  void forget() {
    known_ = Interner();
    ids_.assign(1, 0);
    bytes_ = 0;
    ++round_;
  }

  EventFileWriter& writer_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::uint64_t round_ = 0;
  Interner known_;
  std::vector<StringId> ids_{0};  // of the numbers in known_
};

}  // namespace teller
