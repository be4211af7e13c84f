// From what the user named to the trace files to read: folders and tar archives stand for the
// traces in them, found by what they hold.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "teller/result.h"

namespace teller {

// One file to import.
struct InputFile {
  std::string path;   // where its bytes are
  std::string label;  // what messages call it: its path, or "ARCHIVE: MEMBER"
};

// A file in a folder or an archive that is not imported.
struct SkippedFile {
  std::string label;
  std::string why;
};

struct InputList {
  std::vector<InputFile> files;
  std::vector<SkippedFile> skipped;
  std::vector<std::string> notes;  // damage of archives that was passed over
};

struct InputListOptions {
  // A folder of ours below which archives are unpacked; what it lies in is never listed.
  std::string workplace;
  bool allow_truncated = false;  // take what can be read of a damaged archive
  const std::atomic<bool>* stop = nullptr;
  // Whether a file that was found, not named, is a trace.
  std::function<Result<bool>(const std::string& path)> is_trace;
};

// `given`, each folder and archive replaced by the traces in it, in the natural order of their
// names
// ("rank2" before "rank10"); what was named stays where it stands. Archives in archives are
// skipped. Fails if one of them holds no trace.
Result<InputList> list_inputs(const std::vector<std::string>& given,
                              const InputListOptions& options);

// Whether `a` stands before `b`: runs of digits compare as numbers, else byte by byte.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace teller
