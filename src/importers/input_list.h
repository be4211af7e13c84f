// From what the user named to the files to read: folders and tar archives stand for the traces and
// logs in them, found by what they hold.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller {

// One file to import.
struct InputFile {
  std::string path;   // where its bytes are
  std::string label;  // what messages call it: its path, or "ARCHIVE: MEMBER"
  // Of the folder or archive that it was found in, in InputList::containers; nothing if it was
  // named.
  std::optional<std::size_t> container = {};
  bool log = false;  // it was found, and is a log
};

// A file in a folder or an archive that is not imported.
struct SkippedFile {
  std::string label;
  std::string why;
};

// What a folder or an archive holds: every member is in one of the counts below `members`.
struct ContainerCounts {
  std::string label;
  bool archive = false;
  std::uint64_t members = 0;
  std::uint64_t traces = 0;
  std::uint64_t logs = 0;
  std::uint64_t copies = 0;  // traces and logs that hold the same as others, and are left out
  // In a folder: each is a container of its own, or skipped if it can't be read; in an archive
  // skipped.
  std::uint64_t archives = 0;
  std::uint64_t others = 0;  // files that are neither, or can't be read
  std::uint64_t folders = 0;
  std::uint64_t links = 0;  // and devices
};

struct InputList {
  std::vector<InputFile> files;
  std::vector<SkippedFile> skipped;
  std::vector<ContainerCounts> containers;
  std::vector<std::string> notes;  // damage of archives that was passed over, and what is behind
  std::vector<SkippedFile> unreadable;  // of `skipped`: what might have held traces
};

// What a file is that was found, not named.
struct FoundFile {
  enum class Kind { kTrace, kLog, kOther };
  Kind kind = Kind::kOther;
  std::string why = {};  // kOther: why it is skipped
};

struct InputListOptions {
  // A folder of ours below which archives are unpacked; what it lies in is never listed.
  std::string workplace;
  bool allow_truncated = false;  // take what can be read of a damaged archive
  const std::atomic<bool>* stop = nullptr;
  std::function<Result<FoundFile>(const std::string& path)> what_is;
};

// `given`, each folder and archive replaced by the traces and logs in it, in the natural order of
// their names ("rank2" before "rank10"); what was named stays where it stands. Archives in archives
// are skipped, and so are archives that were found in a folder and can't be read. Fails if a folder
// or an archive that was named holds neither.
Result<InputList> list_inputs(const std::vector<std::string>& given,
                              const InputListOptions& options);

}  // namespace teller
