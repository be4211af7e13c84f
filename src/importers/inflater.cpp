#include "importers/inflater.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

namespace teller {

namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b", 2};
constexpr std::string_view kZstdMagic{"\x28\xb5\x2f\xfd", 4};
// What a frame may ask for as its window: zstd's own command goes no further either.
constexpr int kMostWindowLog = 27;

// Whether `head` and `magic` are the same as far as both go.
bool agrees(std::string_view head, std::string_view magic) {
  const std::size_t size = std::min(head.size(), magic.size());
  return head.substr(0, size) == magic.substr(0, size);
}

// A frame that holds nothing to inflate and may stand before others.
bool may_be_skippable_frame(std::string_view head) {
  return !head.empty() && (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
         agrees(head.substr(1), "\x2a\x4d\x18");
}

class GzipInflater : public Inflater {
 public:
  GzipInflater() { ok_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;
  ~GzipInflater() override { inflateEnd(&stream_); }

  const char* format() const override { return "gzip"; }

 protected:
  bool may_begin(std::string_view head) const override { return agrees(head, kGzipMagic); }
  std::size_t magic_bytes() const override { return kGzipMagic.size(); }
  Step step(std::string_view data, char* out, std::size_t room) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream_.avail_in = static_cast<uInt>(data.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(room);
    const int status = ok_ ? inflate(&stream_, Z_NO_FLUSH) : Z_STREAM_ERROR;
    const bool ended = status == Z_STREAM_END;
    if (ended) inflateReset(&stream_);
    return {ended || status == Z_OK || status == Z_BUF_ERROR, ended, data.size() - stream_.avail_in,
            room - stream_.avail_out};
  }

 private:
  z_stream stream_{};
  bool ok_ = false;
};

class ZstdInflater : public Inflater {
 public:
  ZstdInflater() : stream_(ZSTD_createDStream()) {
    ok_ = stream_ != nullptr &&
          ZSTD_isError(ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, kMostWindowLog)) == 0;
  }
  ZstdInflater(const ZstdInflater&) = delete;
  ZstdInflater& operator=(const ZstdInflater&) = delete;
  ~ZstdInflater() override { ZSTD_freeDStream(stream_); }

  const char* format() const override { return "zstd"; }

 protected:
  bool may_begin(std::string_view head) const override {
    return agrees(head, kZstdMagic) || may_be_skippable_frame(head);
  }
  std::size_t magic_bytes() const override { return kZstdMagic.size(); }
  // What a full output held back comes out without further input.
  bool holds_back() const override { return held_back_; }
  Step step(std::string_view data, char* out, std::size_t room) override {
    if (!ok_) return {false, false, 0, 0};
    ZSTD_inBuffer input{data.data(), data.size(), 0};
    ZSTD_outBuffer output{out, room, 0};
    const std::size_t status = ZSTD_decompressStream(stream_, &output, &input);
    const bool fine = ZSTD_isError(status) == 0;
    held_back_ = fine && status != 0 && output.pos == output.size;
    return {fine, fine && status == 0, input.pos, output.pos};
  }

 private:
  ZSTD_DStream* stream_;
  bool ok_ = false;
  bool held_back_ = false;
};

}  // namespace

bool Inflater::inflate_to(std::string& out, std::size_t limit) {
  std::size_t size = out.size();
  out.resize(limit);
  bool fine = true;
  while (fine && size < limit && !needs_input()) {
    std::size_t made = 0;
    fine = inflate_some(out.data() + size, limit - size, made);
    size += made;
  }
  out.resize(size);
  return fine;
}

bool Inflater::inflate_some(char* out, std::size_t room, std::size_t& made) {
  if (tail_) {
    pass_over_tail();
    return true;
  }
  if (!inside_ && !take_magic()) return true;
  inside_ = true;
  std::string_view magic = magic_;
  std::string_view& data = magic.empty() ? waiting_ : magic;
  const Step done = step(data, out, room);
  data.remove_prefix(done.taken);
  magic_ = std::string(magic);
  made = done.made;
  if (done.ended) {
    inside_ = false;
    any_ = true;
  }
  return done.fine;
}

bool Inflater::take_magic() {
  const std::size_t size = std::min(magic_bytes() - magic_.size(), waiting_.size());
  const std::string head = magic_ + std::string(waiting_.substr(0, size));
  if (any_ && !may_begin(head)) {
    tail_ = true;
    // What was taken for a magic begins the tail.
    behind_ = magic_.size();
    magic_.clear();
    return false;
  }
  magic_ = head;
  waiting_.remove_prefix(size);
  return magic_.size() == magic_bytes();
}

void Inflater::pass_over_tail() {
  if (behind_ == 0) {
    waiting_.remove_prefix(std::min(waiting_.find_first_not_of('\0'), waiting_.size()));
  }
  behind_ += waiting_.size();
  waiting_ = {};
}

std::unique_ptr<Inflater> inflater_for(std::string_view head) {
  if (head.starts_with(kGzipMagic)) return std::make_unique<GzipInflater>();
  if (head.starts_with(kZstdMagic) || (head.size() >= 4 && may_be_skippable_frame(head))) {
    return std::make_unique<ZstdInflater>();
  }
  return nullptr;
}

}  // namespace teller
