// Archives and what inflates them: members are found whatever the pieces are in which bytes come,
// each is counted once, and nothing is written outside of the folder that was given.
#include "fuzz_file.h"
#include "importers/content_signs.h"
#include "importers/input_stream.h"
#include "importers/tar_members.h"

namespace teller::fuzz {

namespace {

// More would only show that copying takes time.
constexpr std::size_t kMostInflated = 8u << 20;

struct Inflated {
  std::string text;
  bool cut = false;
};

Inflated inflate_in(const std::string& path, std::size_t piece_bytes) {
  Inflated all;
  InputOptions options;
  options.piece_bytes = piece_bytes;
  const auto input = InputStream::open(path, options);
  demand(input.ok(), "a file that is there was not opened");
  while (all.text.size() < kMostInflated) {
    const auto piece = (*input)->next();
    demand(piece.ok(), "reading a file of memory failed");
    if (piece->empty()) break;
    demand(piece->size() <= piece_bytes, "a piece that is larger than asked for");
    all.text += *piece;
  }
  all.cut = !(*input)->cut_reason().empty();
  return all;
}

void unpack(const std::string& path) {
  const std::string members = folder().file("members");
  std::error_code error;
  std::filesystem::remove_all(members, error);
  std::filesystem::create_directories(members);
  TarLimits limits;
  limits.members = 64;
  limits.always_bytes = limits.bytes = 16u << 20;
  const auto found = unpack_tar(path, members, nullptr, limits);
  if (!found) {
    demand(!found.error().message.empty(), "a refusal without a word");
    return;
  }
  std::size_t written = 0;
  for (const TarMember& member : found->members) {
    demand(member.path.empty() == (member.kind != TarKind::kFile), "a file without bytes");
    if (member.path.empty()) continue;
    demand(std::filesystem::is_regular_file(member.path, error), "a member was not written");
    ++written;
  }
  std::size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(members)) {
    demand(entry.is_regular_file(), "an archive made something else than files");
    ++there;
  }
  demand(there == written, "files that are no members");
}

}  // namespace

int fuzz_archive(std::string_view bytes) {
  const std::string path = put("archive", bytes);
  const Inflated large = inflate_in(path, 1u << 20);
  if (large.text.size() < 64u << 10) {
    const Inflated small = inflate_in(path, 61);
    demand(small.cut == large.cut, "the size of pieces changes what is damaged");
    // Where data is damaged, zlib and zstd may keep the last bytes before it to themselves.
    const bool same = large.cut
                          ? large.text.starts_with(small.text) || small.text.starts_with(large.text)
                          : large.text == small.text;
    demand(same, "the size of pieces changes what is read");
  }
  if (is_tar(large.text)) unpack(path);
  return 0;
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_archive(teller::fuzz::text_of(data, size));
}
