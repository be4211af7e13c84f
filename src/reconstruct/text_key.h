// A text of an event file as part of a key. Private to reconstruct/ and its tests.
#pragma once

#include <compare>
#include <string_view>

#include "run_folder/event_file.h"

namespace teller {

// Ordered by what the text says: a file may hold equal texts under several ids. Equal ids are equal
// at once, for many records may share one long text. All keys of a container are of one file.
struct TextKey {
  const EventFile* file = nullptr;
  StringId id = 0;

  friend std::weak_ordering operator<=>(const TextKey& left, const TextKey& right) {
    if (left.id == right.id) return std::weak_ordering::equivalent;
    return left.file->string(left.id) <=> right.file->string(right.id);
  }
  friend bool operator==(const TextKey& left, const TextKey& right) {
    return (left <=> right) == 0;
  }
};

}  // namespace teller
