#include "importers/kineto_header.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/utf8.h"
#include "importers/decimal_time.h"
#include "importers/json_text.h"
#include "importers/source_import.h"

namespace teller {

using Json = nlohmann::ordered_json;

namespace {

// Members of the top-level object that are kept besides those with a meaning.
constexpr std::size_t kOtherLimit = 4u << 20;
constexpr std::size_t kOtherMembers = 4096;
// Absolute times lie after this one (2001); what is earlier counts from the start of a host.
constexpr std::int64_t kUnixFrom = 1'000'000'000'000'000'000;
// Of a value that can't be read a line shows so much.
constexpr std::size_t kShownValue = 60;

template <typename Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// The whole number that a JSON number or string stands for, however it is written ("5", "1.5e18");
// nothing if it is none or does not fit.
std::optional<std::int64_t> whole_number(std::string_view raw) {
  const std::string_view text = trim_blank(string_body(trim_blank(raw)).value_or(raw));
  std::int64_t number = 0;
  if (parse_integer(text, number)) return number;
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  std::string_view digits = text.substr(std::min(mark + 1, text.size()));
  if (digits.starts_with('+')) digits.remove_prefix(1);
  int exponent = 0;
  if (mark < text.size() && !parse_integer(digits, exponent)) return std::nullopt;
  if (exponent < 0 || exponent > 18) return std::nullopt;
  std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = mantissa.find('.');
  while (point != std::string_view::npos && mantissa.ends_with('0')) mantissa.remove_suffix(1);
  const std::size_t decimals = point == std::string_view::npos ? 0 : mantissa.size() - point - 1;
  if (decimals > static_cast<std::size_t>(exponent)) return std::nullopt;
  return decimal_us_to_ns(std::string(mantissa) + "e" + std::to_string(exponent - 3));
}

Json parse_limited(std::string_view raw) {
  return fits_json_tree(raw) ? Json::parse(raw, nullptr, false) : Json(Json::value_t::discarded);
}

// Real files hold raw newlines and cut characters here too.
Json parse(std::string_view raw) {
  Json value = parse_limited(raw);
  return value.is_discarded() ? parse_limited(repair_json(raw)) : value;
}

std::string repaired_key(std::string_view key) {
  std::string quoted;
  append_quoted(key, quoted);
  const Json value = Json::parse(quoted, nullptr, false);
  return value.is_string() ? value.get<std::string>() : std::string();
}

// What a rank, or how many there are, may be.
struct StatedNumber {
  const char* key;
  const char* words;
  std::int64_t least;
};
constexpr StatedNumber kStated[] = {{"rank", "rank", 0}, {"world_size", "number of ranks", 1}};

}  // namespace

void KinetoHeader::member(std::string_view key, std::string_view raw) {
  const bool large = other_bytes_ + key.size() + raw.size() > kOtherLimit ||
                     producer_.size() + other_.size() >= kOtherMembers;
  if (large && key != "deviceProperties" && key != "distributedInfo") {
    ++left_out_;
    return;
  }
  Json value = parse(raw);
  if (value.is_discarded()) {
    ++left_out_;
  } else if (key == "distributedInfo") {
    distributed_ = std::move(value);
  } else if (key == "deviceProperties") {
    devices_ = std::move(value);
  } else if (key == "baseTimeNanoseconds") {
    const std::optional<std::int64_t> base = whole_number(raw);
    base_unknown_ = !base && !value.is_null();
    if (base_unknown_) ++left_out_;
    base_ns_ = base.value_or(0);
  } else if (key == "host_name" || key == "hostname") {
    host_ = std::move(value);
  } else {
    other_bytes_ += key.size() + raw.size();
    Json& group = value.is_primitive() ? producer_ : other_;
    group[repaired_key(key)] = std::move(value);
  }
}

Json KinetoHeader::stated(const char* key) const {
  return distributed_.is_object() ? distributed_.value(key, Json()) : Json();
}

// Some writers have it as text ("8") or with decimals (8.0).
Json KinetoHeader::number(const char* key, std::int64_t least) const {
  const Json value = stated(key);
  if (!value.is_number() && !value.is_string()) return {};
  const auto number = whole_number(meta_text(value));
  const bool fits =
      number && *number >= least && *number <= std::numeric_limits<std::int32_t>::max();
  return fits ? Json(*number) : Json();
}

void KinetoHeader::add_to(Json& meta, std::optional<std::int64_t> first_ns) const {
  if (!host_.is_null()) meta["host"] = host_;
  for (const StatedNumber& one : kStated) meta[one.key] = number(one.key, one.least);
  meta["clock"] = clock(first_ns);
  meta["producer"] = producer_;
  if (!distributed_.is_null()) meta["distributed"] = distributed_;
  if (!devices_.is_null()) meta["devices"] = devices_;
  if (!other_.empty()) meta["other"] = other_;
  if (left_out_ > 0) meta["members_left_out"] = left_out_;
}

void KinetoHeader::add_notes(std::vector<std::string>& notes) const {
  if (left_out_ > 0) {
    notes.push_back(std::to_string(left_out_) +
                    " members of its top-level object were left out: nested too deeply, too "
                    "large, no JSON or no number");
  }
  if (base_unknown_) {
    notes.emplace_back(
        "its baseTimeNanoseconds is no whole number of 64 bits: what its times count from is "
        "unknown");
  }
  if (!distributed_.is_null() && !distributed_.is_object()) {
    notes.emplace_back("its distributedInfo is no object: its rank is unknown");
  }
  for (const StatedNumber& one : kStated) {
    const Json value = stated(one.key);
    if (value.is_null() || !number(one.key, one.least).is_null()) continue;
    const std::string text = meta_text(value);
    std::string shown;
    append_valid_utf8(std::string_view(text).substr(0, kShownValue), shown);
    notes.push_back("its distributedInfo states \"" + std::string(one.key) + "\": " + shown +
                    (text.size() > kShownValue ? "…" : "") + ", which is no whole number from " +
                    std::to_string(one.least) + " on: its " + one.words + " is unknown");
  }
}

Json KinetoHeader::clock(std::optional<std::int64_t> first_ns) const {
  if (base_ns_ != 0) return {{"base", "relative"}, {"unix_offset_ns", base_ns_}};
  if (!base_unknown_ && first_ns && *first_ns >= kUnixFrom)
    return {{"base", "unix"}, {"unix_offset_ns", 0}};
  return {{"base", "relative"}, {"unix_offset_ns", nullptr}};
}

}  // namespace teller
