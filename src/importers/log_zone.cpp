#include "importers/log_zone.h"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/saturate.h"

namespace teller {

namespace {

// While it lives, the C library's local time is that of a zone. Not for several threads at a time.
class LocalTime {
 public:
  explicit LocalTime(const std::string& zone) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    set(":" + zone);
  }
  LocalTime(const LocalTime&) = delete;
  LocalTime& operator=(const LocalTime&) = delete;
  ~LocalTime() {
    if (before_) {
      set(*before_);
    } else {
      unsetenv("TZ");
      tzset();
    }
  }

 private:
  static void set(const std::string& zone) {
    setenv("TZ", zone.c_str(), 1);
    tzset();
  }
  std::optional<std::string> before_;
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr std::int64_t kFarthest = 14 * 3600;  // no zone is farther from UTC

// "+02:00", "-0530", "+02": seconds east of UTC.
std::optional<std::int64_t> fixed_offset(std::string_view text) {
  if (text.size() < 3 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  std::string digits;
  for (const char c : text.substr(1)) {
    if (is_digit(c)) digits += c;
    if (!is_digit(c) && (c != ':' || digits.size() != 2)) return std::nullopt;
  }
  if (digits.size() == 2) digits += "00";
  if (digits.size() != 4) return std::nullopt;
  const int hours = std::stoi(digits.substr(0, 2));
  const int minutes = std::stoi(digits.substr(2));
  const std::int64_t seconds = hours * 3600 + minutes * 60;
  if (seconds > kFarthest || minutes > 59) return std::nullopt;
  return text[0] == '-' ? -seconds : seconds;
}

// Whether the database has the zone. Names are no paths: no "..", nothing from the root.
bool is_known(const std::string& name) {
  const bool plain = !name.empty() && name[0] != '/' && name.find("..") == std::string::npos &&
                     name.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                         "0123456789_+-/") == std::string::npos;
  if (!plain) return false;
  const char* folder = std::getenv("TZDIR");
  const std::string path =
      std::string(folder != nullptr ? folder : "/usr/share/zoneinfo") + "/" + name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  // Beside the zones the folder holds lists of them; the C library would take those for UTC.
  constexpr std::string_view kMagic = "TZif";
  char head[kMagic.size()] = {};
  std::ifstream file(path, std::ios::binary);
  return file.read(head, sizeof head) && std::string_view(head, sizeof head) == kMagic;
}

}  // namespace

Result<LogZone> LogZone::parse(const std::string& text) {
  LogZone zone;
  zone.name_ = text;
  if (text == "UTC" || text == "Z") return zone;
  if (const auto fixed = fixed_offset(text)) {
    zone.fixed_s_ = *fixed;
    return zone;
  }
  if (!is_known(text)) {
    return Error{ErrorCode::kUsage,
                 "reading the time zone '" + text + "': there is none of that name here",
                 "give UTC, an offset like +02:00, or a name like Europe/Berlin (needs tzdata)"};
  }
  zone.named_ = true;
  return zone;
}

// Asking the C library takes reading the zone's file; clocks change on a quarter of an hour.
std::int64_t LogZone::offset_at(std::int64_t unix_s) const {
  constexpr std::int64_t kQuarter = 900;
  constexpr std::size_t kMostKnown = 1u << 16;
  if (!named_) return fixed_s_;
  const std::int64_t quarter = unix_s / kQuarter;
  if (const auto found = known_.find(quarter); found != known_.end()) return found->second;
  if (known_.size() >= kMostKnown) known_.clear();
  const LocalTime local(name_);
  const std::time_t time = quarter * kQuarter;
  std::tm parts{};
  const std::int64_t offset = localtime_r(&time, &parts) != nullptr ? parts.tm_gmtoff : 0;
  return known_.emplace(quarter, offset).first->second;
}

LogZone::Instant LogZone::unix_of(std::int64_t local_s, std::int64_t not_before_s) const {
  if (!named_) return {local_s - fixed_s_, false};
  constexpr std::int64_t kDay = 86'400;
  // Threads of one program write lines a little out of order.
  constexpr std::int64_t kDisorderS = 60;
  const std::int64_t before = local_s - offset_at(local_s - kDay);
  const std::int64_t after = local_s - offset_at(local_s + kDay);
  if (before == after) return {before, false};
  const bool fits_before = before + offset_at(before) == local_s;
  const bool fits_after = after + offset_at(after) == local_s;
  if (fits_before != fits_after) return {fits_before ? before : after, false};
  if (!fits_before) return {before, true};
  return {before >= saturating_sub(not_before_s, kDisorderS) ? before : after, true};
}

}  // namespace teller
