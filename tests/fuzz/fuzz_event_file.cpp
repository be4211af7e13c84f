// Event files, as they are and with their checks made right, so that more than checks are tried.
#include <cstring>

#include "fuzz_file.h"
#include "run_folder/block.h"
#include "run_folder/event_file.h"

namespace teller::fuzz {

namespace {

// Makes the checks of the blocks right that stand one behind the other from the file's start.
void mend_checks(std::string& file) {
  std::size_t at = sizeof(FileHeader);
  BlockHeader header{};
  while (at + sizeof header <= file.size()) {
    std::memcpy(&header, file.data() + at, sizeof header);
    const std::size_t room = file.size() - at - sizeof header;
    if (header.mark != kBlockMark || header.payload_bytes > room) return;
    header.check = block_check(
        header, std::string_view(file).substr(at + sizeof header, header.payload_bytes));
    std::memcpy(file.data() + at, &header, sizeof header);
    if (padded_size(header.payload_bytes) > room) return;
    at += sizeof header + padded_size(header.payload_bytes);
  }
}

void read(const std::string& path) {
  const auto file = EventFile::open(path);
  if (!file) return;
  std::size_t sum = file->meta_json().size();
  for (const auto block : file->blocks()) {
    for (const EventRecord& event : block) {
      sum += file->string(event.name).size() + file->string(event.attrs).size();
      sum += file->track(event.track).kind;
    }
  }
  demand(sum + 1 > 0, "no sum");
}

}  // namespace

int fuzz_event_file(const std::uint8_t* data, std::size_t size) {
  return fuzz_checked_file(data, size, mend_checks, read);
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_event_file(data, size);
}
