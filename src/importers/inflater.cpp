#include "importers/inflater.h"

#include <zlib.h>
#include <zstd.h>

namespace teller {

namespace {

constexpr std::string_view kGzipMagic{"\x1f\x8b", 2};
constexpr std::string_view kZstdMagic{"\x28\xb5\x2f\xfd", 4};
// What a frame may ask for as its window: zstd's own command goes no further either.
constexpr int kMostWindowLog = 27;

// Inflates gzip members one after the other.
class GzipInflater : public Inflater {
 public:
  GzipInflater() { ok_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  GzipInflater(const GzipInflater&) = delete;
  GzipInflater& operator=(const GzipInflater&) = delete;
  ~GzipInflater() override { inflateEnd(&stream_); }

  const char* format() const override { return "gzip"; }
  void input(std::string_view data) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream_.avail_in = static_cast<uInt>(data.size());
  }
  bool needs_input() const override { return stream_.avail_in == 0; }
  bool inside_member() const override { return inside_; }
  bool inflate_to(std::string& out, std::size_t limit) override {
    const std::size_t before = out.size();
    out.resize(limit);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data() + before);
    stream_.avail_out = static_cast<uInt>(limit - before);
    const bool fine = ok_ && run();
    out.resize(limit - stream_.avail_out);
    return fine;
  }

 private:
  bool run() {
    while (stream_.avail_in > 0 && stream_.avail_out > 0) {
      if (!inside_) {
        // Zero padding or other text behind a whole member is no data (gzip(1) says so too).
        tail_ = tail_ || (members_ > 0 && *stream_.next_in != 0x1f);
        if (tail_) {
          stream_.avail_in = 0;
          return true;
        }
        inflateReset(&stream_);
        inside_ = true;
      }
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        inside_ = false;
        ++members_;
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return false;
      }
    }
    return true;
  }

  z_stream stream_{};
  bool ok_ = false;
  bool inside_ = false;
  int members_ = 0;
  bool tail_ = false;  // what follows, however it comes in pieces, is no data
};

// Inflates zstd frames one after the other.
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
  void input(std::string_view data) override { input_ = {data.data(), data.size(), 0}; }
  // What a full output held back comes out without further input.
  bool needs_input() const override { return input_.pos == input_.size && !held_back_; }
  bool inside_member() const override { return inside_; }
  bool inflate_to(std::string& out, std::size_t limit) override {
    const std::size_t before = out.size();
    out.resize(limit);
    ZSTD_outBuffer output{out.data() + before, limit - before, 0};
    bool fine = ok_;
    do {
      const std::size_t status = ok_ ? ZSTD_decompressStream(stream_, &output, &input_) : 1;
      fine = ok_ && ZSTD_isError(status) == 0;
      inside_ = status != 0;
      held_back_ = fine && inside_ && output.pos == output.size;
    } while (fine && input_.pos < input_.size && output.pos < output.size);
    out.resize(before + output.pos);
    return fine;
  }

 private:
  ZSTD_DStream* stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool ok_ = false;
  bool inside_ = false;
  bool held_back_ = false;
};

// A frame that holds nothing to inflate and may stand before others.
bool is_skippable_frame(std::string_view head) {
  return head.size() >= 4 && (static_cast<unsigned char>(head[0]) & 0xf0) == 0x50 &&
         head.substr(1, 3) == "\x2a\x4d\x18";
}

}  // namespace

std::unique_ptr<Inflater> inflater_for(std::string_view head) {
  if (head.starts_with(kGzipMagic)) return std::make_unique<GzipInflater>();
  if (head.starts_with(kZstdMagic) || is_skippable_frame(head))
    return std::make_unique<ZstdInflater>();
  return nullptr;
}

}  // namespace teller
