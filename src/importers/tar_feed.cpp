#include "importers/tar_feed.h"

#include <algorithm>
#include <cerrno>

namespace teller {

namespace {

constexpr std::size_t kBlock = 512;
// libarchive looks a block or two ahead.
constexpr std::size_t kTail = 8 * kBlock;

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

int TarFeed::open(archive* a) {
  return archive_read_open(a, this, nullptr, read_piece, nullptr);
}

Result<std::string_view> TarFeed::next() {
  tail_.append(current_.substr(current_.size() - std::min(current_.size(), kTail)));
  tail_.erase(0, tail_.size() - std::min(tail_.size(), kTail));
  TELLER_TRY(current_, input_.next());
  given_ += current_.size();
  return current_;
}

la_ssize_t TarFeed::read_piece(archive* a, void* self, const void** buffer) {
  auto& feed = *static_cast<TarFeed*>(self);
  auto piece = feed.next();
  if (!piece) {
    feed.failure_ = piece.error();
    archive_set_error(a, EIO, "%s", piece.error().message.c_str());
    return -1;
  }
  *buffer = piece->data();
  return static_cast<la_ssize_t>(piece->size());
}

bool TarFeed::is_end_before(std::uint64_t at) const {
  const std::uint64_t begin = given_ - current_.size();
  std::string known = tail_;
  if (at >= begin) {
    known += current_.substr(0, at - begin);
  } else {
    known.resize(known.size() - std::min<std::uint64_t>(known.size(), begin - at));
  }
  return known.size() >= kBlock && is_zero(std::string_view(known).substr(known.size() - kBlock));
}

bool TarFeed::only_zeros_from(std::uint64_t at) const {
  const std::string known = tail_ + std::string(current_);
  const std::uint64_t size = given_ - std::min(at, given_);
  return size <= known.size() && is_zero(std::string_view(known).substr(known.size() - size));
}

Result<std::uint64_t> TarFeed::drain(std::uint64_t limit) {
  const std::uint64_t first = given_;
  while (given_ - first < limit) {
    TELLER_TRY(const std::string_view piece, next());
    if (piece.empty()) break;
  }
  return given_;
}

}  // namespace teller
