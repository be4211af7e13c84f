// How a teller function says that it failed: a value, never an exception.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace teller {

// What went wrong, as a kind. Each kind maps to one exit code of the command line (exit_code()).
enum class ErrorCode {
  kInternal,     // a defect of teller itself, or an unexpected failure of the system
  kUsage,        // the command line asks for something that makes no sense
  kNotFound,     // a file, folder, program or artefact is not there
  kPermission,   // it is there, but may not be read or written
  kCorrupt,      // it was read, and is not what it should be
  kUnsupported,  // it is well-formed, but this version of teller cannot handle it
  kIo,           // reading or writing failed (full disk, I/O error)
  kStale,        // an artefact was made from inputs that have changed since
  kInterrupted,  // the user asked to stop
};

// One failure. `message` reads "what was attempted: what is wrong"; `hint` says what to do next.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string hint;
};

// Exit code of the command line for an error of this kind. The table is in docs/cli.md.
constexpr int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInternal:
      return 1;
    case ErrorCode::kUsage:
      return 2;
    case ErrorCode::kNotFound:
    case ErrorCode::kPermission:
      return 3;
    case ErrorCode::kCorrupt:
      return 4;
    case ErrorCode::kUnsupported:
      return 5;
    case ErrorCode::kIo:
      return 6;
    case ErrorCode::kStale:
      return 7;
    case ErrorCode::kInterrupted:
      return 130;
  }
  return 1;
}

// Either a value or an Error. Three ways to handle one: `if (!r) return r.error();`, `r.value()`
// after a check, or TELLER_TRY below.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// The result of an operation that has nothing to return.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return !error_.has_value(); }
  bool ok() const { return !error_.has_value(); }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace teller

#define TELLER_CONCAT_INNER(a, b) a##b
#define TELLER_CONCAT(a, b) TELLER_CONCAT_INNER(a, b)

// TELLER_TRY(auto x, f()): x = value of f(), or return its error from the enclosing function.
#define TELLER_TRY(target, expression) \
  TELLER_TRY_INNER(TELLER_CONCAT(teller_try_, __LINE__), target, expression)
#define TELLER_TRY_INNER(temporary, target, expression) \
  auto temporary = (expression);                        \
  if (!temporary) return std::move(temporary.error());  \
  target = std::move(temporary.value())

// TELLER_CHECK_OK(f()): return the error of a Status (or Result) from the enclosing function.
#define TELLER_CHECK_OK(expression)                                                      \
  do {                                                                                   \
    if (auto teller_status = (expression); !teller_status) return teller_status.error(); \
  } while (false)
