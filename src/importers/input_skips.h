// Inputs that are left out of a run, and what is said of them.
#pragma once

#include <string>
#include <vector>

#include "importers/input_list.h"
#include "teller/result.h"

namespace teller {

// Whether `error` says something of one input only: the others can be read without it.
bool is_of_one_input(const Error& error);
// What was found and is skipped for `error`.
SkippedFile skipped_for(const std::string& label, const Error& error);
// What was named must be read: fails with `error`, which is about `input`. What was found in a
// folder or an archive is skipped, and said, if the others can be read without it.
Status skip_or_fail(const InputFile& input, const Error& error, InputList& list);
// `input`, which was found, is left out: `why` says of which file it is a copy.
void skip_copy(const InputFile& input, const std::string& why, InputList& list);
// That nothing was left of `from` once these, one at least, were skipped.
Error nothing_left(const std::string& from, const std::vector<SkippedFile>& unreadable);

}  // namespace teller
