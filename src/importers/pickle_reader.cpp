#include "importers/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "importers/pickle_machine.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;
using pickle_detail::Kind;
using pickle_detail::Machine;
using pickle_detail::Value;

constexpr unsigned char kProto = 0x80;
constexpr unsigned char kOldestProtocol = 2;
constexpr unsigned char kNewestProtocol = 5;

Value number_value(std::int64_t number, Kind kind = Kind::kInt) {
  Value value;
  value.kind = kind;
  value.number = number;
  return value;
}

Value real_value(double real) {
  Value value;
  value.kind = Kind::kFloat;
  value.real = real;
  return value;
}

Value text_value(std::string_view text) {
  Value value;
  value.kind = Kind::kText;
  value.text = text;
  return value;
}

Value empty_value(Kind kind) {
  Value value;
  value.kind = kind;
  return value;
}

// Runs the opcodes of a pickle on a machine.
class Reader {
 public:
  Reader(std::string_view bytes, const PickleLimits& limits) : bytes_(bytes), machine_(limits) {}

  Result<Json> read() {
    while (true) {
      opcode_at_ = at_;
      if (at_ >= bytes_.size()) return cut_off();
      const auto opcode = static_cast<unsigned char>(bytes_[at_++]);
      if (opcode == '.') break;
      if (Status status = run(opcode); !status) return placed(status.error());
    }
    if (at_ != bytes_.size()) {
      return Error{
          ErrorCode::kCorrupt,
          "its pickle ends at byte " + std::to_string(at_) + " of " + std::to_string(bytes_.size()),
          "give the file as PyTorch wrote it"};
    }
    auto tree = machine_.result();
    if (!tree) return Error{tree.error().code, "its pickle: " + tree.error().message, ""};
    return tree;
  }

 private:
  Error cut_off() const {
    return {ErrorCode::kCorrupt,
            "its pickle stops before its end, in what begins at byte " + std::to_string(opcode_at_),
            "copy the file again: it was cut while it was written or copied"};
  }

  Error placed(Error error) const {
    if (error.message.starts_with("its pickle")) return error;
    error.message = "its pickle, at byte " + std::to_string(opcode_at_) + ": " + error.message;
    return error;
  }

  Status run(unsigned char opcode) {
    switch (opcode) {
      case kProto:
        return protocol();
      case 0x95:  // FRAME: only says how much may be read ahead
        return take(8) ? Status() : cut_off();
      case '(':
        return machine_.mark();
      case '0':
        return machine_.pop();
      case '1':
        return machine_.pop_mark();
      case '2':
        return machine_.duplicate();
      default:
        return scalar(opcode);
    }
  }

  Status protocol() {
    if (!take(1)) return cut_off();
    const auto version = static_cast<unsigned char>(taken_[0]);
    if (version <= kNewestProtocol) return {};
    return Error{ErrorCode::kUnsupported,
                 "protocol " + std::to_string(version) + " is not known; this teller reads up to " +
                     std::to_string(kNewestProtocol),
                 ""};
  }

  Status scalar(unsigned char opcode) {
    switch (opcode) {
      case 'N':
        return machine_.push(Value());
      case 0x88:
      case 0x89:
        return machine_.push(number_value(opcode == 0x88 ? 1 : 0, Kind::kBool));
      case 'K':
        return push_unsigned(1);
      case 'M':
        return push_unsigned(2);
      case 'J':
        if (!take(4)) return cut_off();
        return machine_.push(number_value(static_cast<std::int32_t>(little_endian())));
      case 0x8a:
        return push_long(1);
      case 0x8b:
        return push_long(4);
      case 'I':
      case 'L':
        return push_line_number();
      case 'G':
        return push_binary_float();
      case 'F':
        return push_line_float();
      default:
        return text(opcode);
    }
  }

  Status text(unsigned char opcode) {
    switch (opcode) {
      case 0x8c:  // SHORT_BINUNICODE
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
        return push_text(1);
      case 'X':  // BINUNICODE
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
        return push_text(4);
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
        return push_text(8);
      default:
        return memo(opcode);
    }
  }

  Status memo(unsigned char opcode) {
    switch (opcode) {
      case 'q':
      case 'h': {
        if (!take(1)) return cut_off();
        const std::uint64_t slot = little_endian();
        return opcode == 'q' ? machine_.put(slot) : machine_.get(slot);
      }
      case 'r':
      case 'j': {
        if (!take(4)) return cut_off();
        const std::uint64_t slot = little_endian();
        return opcode == 'r' ? machine_.put(slot) : machine_.get(slot);
      }
      case 'p':
      case 'g': {
        TELLER_TRY(const std::int64_t slot, line_number());
        if (slot < 0) return Error{ErrorCode::kCorrupt, "a negative place in its memo", ""};
        const auto place = static_cast<std::uint64_t>(slot);
        return opcode == 'p' ? machine_.put(place) : machine_.get(place);
      }
      case 0x94:
        return machine_.memoize();
      default:
        return container(opcode);
    }
  }

  Status container(unsigned char opcode) {
    switch (opcode) {
      case '}':
        return machine_.push(empty_value(Kind::kDict));
      case ']':
        return machine_.push(empty_value(Kind::kList));
      case ')':
        return machine_.push(empty_value(Kind::kTuple));
      case 'd':
        return machine_.collect(Kind::kDict);
      case 'l':
        return machine_.collect(Kind::kList);
      case 't':
        return machine_.collect(Kind::kTuple);
      case 0x85:
      case 0x86:
      case 0x87:
        return machine_.collect(Kind::kTuple, opcode - 0x84u);
      case 'a':
        return machine_.append();
      case 'e':
        return machine_.append_marked();
      case 's':
        return machine_.set_item();
      case 'u':
        return machine_.set_marked();
      default:
        return pickle_detail::refused_opcode(opcode);
    }
  }

  // The next `count` bytes as taken_; false if the file has fewer.
  bool take(std::uint64_t count) {
    if (count > bytes_.size() - at_) return false;
    taken_ = bytes_.substr(at_, count);
    at_ += count;
    return true;
  }

  // taken_, at most eight bytes.
  std::uint64_t little_endian() const {
    std::uint64_t number = 0;
    for (std::size_t i = taken_.size(); i-- > 0;) {
      number = number << 8 | static_cast<unsigned char>(taken_[i]);
    }
    return number;
  }

  Status push_unsigned(std::size_t bytes) {
    if (!take(bytes)) return cut_off();
    return machine_.push(number_value(static_cast<std::int64_t>(little_endian())));
  }

  Status push_text(std::size_t length_bytes) {
    if (!take(length_bytes)) return cut_off();
    const std::uint64_t length = little_endian();
    if (!take(length)) {
      return Error{ErrorCode::kCorrupt,
                   "a string of " + std::to_string(length) + " bytes, of which " +
                       std::to_string(bytes_.size() - at_) + " are there",
                   "copy the file again: it was cut while it was written or copied"};
    }
    return machine_.push(text_value(taken_));
  }

  // Two's complement of any length. What 64 bits do not hold becomes a real number, as in JSON: no
  // field of a dump has such a value, and it costs that field alone.
  Status push_long(std::size_t length_bytes) {
    if (!take(length_bytes)) return cut_off();
    const std::uint64_t length = little_endian();
    if (!take(length)) return cut_off();
    const bool negative = length > 0 && (static_cast<unsigned char>(taken_.back()) & 0x80u) != 0;
    if (length > 8) return machine_.push(real_value(long_as_real(negative)));
    std::uint64_t number = little_endian();
    if (negative && length < 8) number |= ~std::uint64_t{0} << (8 * length);
    return machine_.push(number_value(static_cast<std::int64_t>(number)));
  }

  // taken_, of any length; at most what a double holds.
  double long_as_real(bool negative) const {
    double real = 0;
    for (std::size_t i = taken_.size(); i-- > 0;) {
      const auto byte = static_cast<unsigned char>(taken_[i]);
      real = real * 256 + static_cast<double>(negative ? 255 - byte : byte);
    }
    real = std::min(real, std::numeric_limits<double>::max());
    return negative ? -real - 1 : real;
  }

  Status push_binary_float() {
    if (!take(8)) return cut_off();
    std::uint64_t bits = 0;
    for (const char c : taken_) bits = bits << 8 | static_cast<unsigned char>(c);
    return machine_.push(real_value(std::bit_cast<double>(bits)));
  }

  // The text up to the end of the line, without it.
  Result<std::string_view> line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) return cut_off();
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  static Error not_a_number() {
    return {ErrorCode::kCorrupt, "a line that is no integer of 64 bits", ""};
  }

  static Result<std::int64_t> parse_number(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      return not_a_number();
    }
    return number;
  }

  Result<std::int64_t> line_number() {
    TELLER_TRY(const std::string_view text, line());
    return parse_number(text);
  }

  // INT and LONG of the oldest protocol; "00" and "01" are truth values, "7L" is a long.
  Status push_line_number() {
    TELLER_TRY(std::string_view text, line());
    if (text == "00" || text == "01") {
      return machine_.push(number_value(text == "01" ? 1 : 0, Kind::kBool));
    }
    if (text.ends_with('L')) text.remove_suffix(1);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = end == text.data() + text.size();
    if (whole && error == std::errc::result_out_of_range) return push_real(text);
    if (!whole || error != std::errc()) return not_a_number();
    return machine_.push(number_value(number));
  }

  Status push_line_float() {
    TELLER_TRY(const std::string_view text, line());
    return push_real(text);
  }

  Status push_real(std::string_view text) {
    double real = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), real);
    if (error == std::errc::result_out_of_range) real = std::numeric_limits<double>::max();
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
      return Error{ErrorCode::kCorrupt, "a line that is no number", ""};
    }
    return machine_.push(real_value(real));
  }

  std::string_view bytes_;
  Machine machine_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  std::string_view taken_;
};

}  // namespace

bool is_pickle(std::string_view head) {
  if (head.size() < 2 || static_cast<unsigned char>(head[0]) != kProto) return false;
  const auto version = static_cast<unsigned char>(head[1]);
  return version >= kOldestProtocol && version <= kNewestProtocol;
}

Result<Json> read_pickle(std::string_view bytes, const PickleLimits& limits) {
  return Reader(bytes, limits).read();
}

}  // namespace teller
