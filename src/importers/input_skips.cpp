#include "importers/input_skips.h"

namespace teller {

namespace {

constexpr std::string_view kUnreadable = "it can't be read: ";

// An error about an unpacked member, told of the archive that it came from.
Error labelled(Error error, const InputFile& input) {
  const auto at = error.message.find(input.path);
  if (at != std::string::npos) error.message.replace(at, input.path.size(), input.label);
  return error;
}

}  // namespace

bool is_of_one_input(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported;
}

SkippedFile skipped_for(const std::string& label, const Error& error) {
  const std::string hint = error.hint.empty() ? "" : " (" + error.hint + ")";
  return {label, std::string(kUnreadable) + error.message + hint};
}

Status skip_or_fail(const InputFile& input, const Error& error, InputList& list) {
  const Error told = labelled(error, input);
  if (!input.container || !is_of_one_input(error)) return told;
  list.skipped.push_back(skipped_for(input.label, told));
  list.unreadable.push_back(list.skipped.back());
  ContainerCounts& counts = list.containers[*input.container];
  --(input.log ? counts.logs : counts.traces);
  ++counts.others;
  return {};
}

void skip_copy(const InputFile& input, const std::string& why, InputList& list) {
  list.skipped.push_back({input.label, why});
  ContainerCounts& counts = list.containers[*input.container];
  --(input.log ? counts.logs : counts.traces);
  ++counts.copies;
}

Error nothing_left(const std::string& from, const std::vector<SkippedFile>& unreadable) {
  // What is said of the first names it, and says what to do.
  std::string first = unreadable.front().why;
  if (first.starts_with(kUnreadable)) first.erase(0, kUnreadable.size());
  return {ErrorCode::kCorrupt,
          "importing " + from + ": none of its " + std::to_string(unreadable.size()) +
              " traces can be read, the first: " + first,
          ""};
}

}  // namespace teller
