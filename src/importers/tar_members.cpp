#include "importers/tar_members.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/file.h"
#include "importers/tar_feed.h"

namespace teller {

namespace {

constexpr std::size_t kPiece = 1u << 20;
constexpr std::size_t kBlock = 512;

struct FreeArchive {
  void operator()(archive* a) const { archive_read_free(a); }
};

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(fd_); }
  int get() const { return fd_; }

 private:
  int fd_;
};

Status write_all(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t done = write(fd, data.data(), data.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno_error("writing " + path, errno);
    data.remove_prefix(static_cast<std::size_t>(done));
  }
  return {};
}

class Unpacker {
 public:
  Unpacker(const std::string& path, InputStream& input, const std::string& folder,
           const std::atomic<bool>* stop, const TarLimits& limits)
      : path_(path),
        input_(input),
        feed_(input),
        folder_(folder),
        stop_(stop),
        limits_(limits),
        buffer_(kPiece, '\0') {}

  Result<TarMembers> run() {
    budget_ = std::min(limits_.bytes,
                       std::max(limits_.always_bytes, input_.file_bytes() * limits_.times));
    TELLER_CHECK_OK(open());
    archive_entry* entry = nullptr;
    while (result_.damage.empty()) {
      if (stopped()) return stop_error();
      const int status = archive_read_next_header(archive_.get(), &entry);
      if (status == ARCHIVE_EOF) break;
      // ARCHIVE_RETRY stands for a header that is none: what libarchive would try next is a guess.
      if (status == ARCHIVE_RETRY || status < ARCHIVE_WARN) {
        TELLER_CHECK_OK(no_header(status));
        break;
      }
      if (result_.members.size() == limits_.members) {
        return too_much("it has more than " + std::to_string(limits_.members) + " members");
      }
      TELLER_CHECK_OK(take(entry));
    }
    if (feed_.failure()) return *feed_.failure();
    TELLER_CHECK_OK(at_end());
    return std::move(result_);
  }

 private:
  Status open() {
    archive_.reset(archive_read_new());
    archive* a = archive_.get();
    // Blocks of zeros end an archive; another one may stand behind them ("cat a.tar b.tar").
    if (a == nullptr || archive_read_support_format_tar(a) != ARCHIVE_OK ||
        archive_read_set_options(a, "read_concatenated_archives") != ARCHIVE_OK) {
      return Error{ErrorCode::kInternal, action() + ": libarchive can't read tar archives here",
                   "unpack it with tar, and give the folder"};
    }
    if (feed_.open(a) == ARCHIVE_OK) return {};
    if (feed_.failure()) return *feed_.failure();
    return Error{ErrorCode::kCorrupt, action() + ": " + reason(), ""};
  }

  // No member follows. Behind the end of an archive that is no damage: what is there is none of it.
  Status no_header(int status) {
    const auto at = static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0));
    const std::uint64_t block = status == ARCHIVE_RETRY ? kBlock : 0;  // libarchive took it
    const std::uint64_t from = at - std::min(at, block);
    // Blocks were passed over; after a failure that ends all libarchive does not say where it
    // began.
    const la_int64_t header = archive_read_header_position(archive_.get());
    const bool passed = header < 0 || from > static_cast<std::uint64_t>(header);
    if (!passed || !feed_.is_end_before(from)) {
      note_damage();
      return {};
    }
    ended_ = true;
    if (feed_.only_zeros_from(from)) return {};
    TELLER_TRY(const std::uint64_t all, feed_.drain(budget_));
    result_.notes.push_back(std::to_string(all - from) +
                            " bytes behind its end are no archive and were not read");
    return {};
  }

  // The inflater knows better than libarchive why bytes are missing.
  Status at_end() {
    if (result_.damage.empty() && !ended_ && !feed_.is_end_before(all_given())) {
      result_.notes.push_back(
          "it has no end mark: members behind the last one may have been cut off");
    }
    TELLER_CHECK_OK(feed_.drain(budget_));
    if (input_.bytes_behind() > 0) result_.notes.push_back(input_.behind_words());
    if (!input_.cut_reason().empty()) result_.damage = input_.cut_reason();
    return {};
  }

  std::uint64_t all_given() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(archive_.get(), 0));
  }

  Status take(archive_entry* entry) {
    TarMember member;
    member.label = label_of(entry);
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR) {
      member.kind = TarKind::kFolder;
    } else if (type != AE_IFREG || archive_entry_hardlink(entry) != nullptr) {
      member.kind = TarKind::kOther;
    } else {
      member.path = folder_ + "/" + std::to_string(result_.members.size());
      TELLER_CHECK_OK(write_member(member.path));
    }
    result_.members.push_back(std::move(member));
    return {};
  }

  Status write_member(const std::string& path) {
    TELLER_TRY(const int fd, create_fresh(path));
    const Descriptor output(fd);
    while (true) {
      if (stopped()) return stop_error();
      const la_ssize_t got = archive_read_data(archive_.get(), buffer_.data(), buffer_.size());
      if (got == 0) return {};
      if (got < 0) {
        note_damage();
        return {};
      }
      const auto size = static_cast<std::uint64_t>(got);
      if (size > budget_) {
        return too_much("its members inflate to more than is read of an archive of this size");
      }
      budget_ -= size;
      TELLER_CHECK_OK(write_all(fd, {buffer_.data(), static_cast<std::size_t>(got)}, path));
    }
  }

  std::string label_of(archive_entry* entry) const {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    return name != nullptr ? name : "member " + std::to_string(result_.members.size());
  }

  void note_damage() { result_.damage = reason(); }
  std::string reason() const {
    const char* text = archive_error_string(archive_.get());
    return text != nullptr ? text : "it can't be read";
  }
  std::string action() const { return "unpacking " + path_; }
  Error too_much(const std::string& why) const {
    return {ErrorCode::kUnsupported, action() + ": " + why,
            "unpack it with tar if you trust it, and give the folder"};
  }
  bool stopped() const { return stop_ != nullptr && stop_->load(std::memory_order_relaxed); }
  Error stop_error() const {
    return {ErrorCode::kInterrupted, action() + ": stopped on request", ""};
  }

  const std::string& path_;
  InputStream& input_;
  TarFeed feed_;
  bool ended_ = false;  // the end of an archive was seen, and something else behind it
  const std::string& folder_;
  const std::atomic<bool>* stop_;
  TarLimits limits_;
  std::string buffer_;
  std::uint64_t budget_ = 0;
  std::unique_ptr<archive, FreeArchive> archive_;
  TarMembers result_;
};

}  // namespace

Result<TarMembers> unpack_tar(const std::string& archive, const std::string& folder,
                              const std::atomic<bool>* stop, const TarLimits& limits) {
  TELLER_TRY(const auto input, InputStream::open(archive, {.stop = stop}));
  return Unpacker(archive, *input, folder, stop, limits).run();
}

}  // namespace teller
