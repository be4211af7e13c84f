#include "importers/out_of_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/terminal.h"

namespace teller {

namespace {

constexpr std::size_t kReserveBytes = 64u << 20;
constexpr const char* kHint =
    "import fewer or smaller files at a time, or raise the limit of memory";

std::atomic<void*> reserve{nullptr};
// Of the guard that lives; null where none does.
std::atomic<const std::string*> guarded_action{nullptr};
std::atomic<const std::string*> guarded_folder{nullptr};
std::terminate_handler terminate_before = nullptr;

void give_back() noexcept {
  if (void* const set_aside = reserve.exchange(nullptr)) munmap(set_aside, kReserveBytes);
}

[[noreturn]] void on_no_memory() {
  give_back();
  throw std::bad_alloc();
}

bool is_out_of_memory() noexcept {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
  return false;
}

// Other threads may still be at work: nothing but this file's own things is touched.
[[noreturn]] void end_program(const std::string& action, const std::string& folder) noexcept {
  give_back();
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  const Error told{ErrorCode::kIo, action + ": there is not enough memory for it", kHint};
  std::fprintf(stderr, "teller: error: %s (%s)\n", printable(told.message).c_str(),
               told.hint.c_str());
  _exit(exit_code(told.code));
}

[[noreturn]] void on_terminate() {
  const std::string* const action = guarded_action.exchange(nullptr);
  const std::string* const folder = guarded_folder.exchange(nullptr);
  if (action != nullptr && folder != nullptr && is_out_of_memory()) end_program(*action, *folder);
  if (terminate_before != nullptr) terminate_before();
  std::abort();
}

}  // namespace

Error thrown_error(const std::string& action) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {ErrorCode::kIo, action + ": there is not enough memory for it", kHint};
  } catch (const std::exception& error) {
    return {ErrorCode::kIo, action + ": " + error.what(), ""};
  } catch (...) {
    return {ErrorCode::kInternal, action + ": it failed for a reason that is not known", ""};
  }
}

OutOfMemoryGuard::OutOfMemoryGuard(const std::string& action, const std::string& folder)
    : action_(action), folder_(folder) {
  void* const set_aside = mmap(nullptr, kReserveBytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  // Where there is not even so much, all goes on without.
  reserve = set_aside == MAP_FAILED ? nullptr : set_aside;
  guarded_action = &action_;
  guarded_folder = &folder_;
  new_before_ = std::set_new_handler(on_no_memory);
  terminate_before = std::set_terminate(on_terminate);
}

OutOfMemoryGuard::~OutOfMemoryGuard() {
  std::set_terminate(terminate_before);
  std::set_new_handler(new_before_);
  guarded_action = guarded_folder = nullptr;
  give_back();
}

}  // namespace teller
