// What a file is that a user named or that was found: told by what it holds.
#pragma once

#include <atomic>
#include <string>

#include "importers/input_list.h"
#include "teller/result.h"

namespace teller {

enum class SourceKind { kKineto, kNsys, kFlight, kOtlp, kExecutionTrace, kLog };

// Of a file that the user named: what can't be told is taken for a Chrome trace, whose reader says
// what is wrong. Fails for what is missing, empty or no regular file.
Result<SourceKind> kind_of_named(const std::string& path, const std::atomic<bool>* stop);
// Of a file in a folder or an archive.
Result<FoundFile> what_was_found(const std::string& path, const std::atomic<bool>* stop);

}  // namespace teller
