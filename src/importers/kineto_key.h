// Arguments of Kineto events that mean something to those who read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace teller {

enum class KinetoKey : std::uint8_t {
  kOther,
  kCorrelation,
  kExternalId,
  kDevice,
  kStream,
  kContext,
  kBytes,
  kGraphId,
  kRecordFunctionId,
  kName,
  kLabels,
};

// Whether `key`, which is as long as `name`, is the same: compared in one or two steps.
template <std::size_t kSize>
bool same_key(std::string_view key, const char (&name)[kSize]) {
  return __builtin_memcmp(key.data(), name, kSize - 1) == 0;
}

inline KinetoKey kineto_key(std::string_view key) {
  switch (key.size()) {
    case 4:
      return same_key(key, "name") ? KinetoKey::kName : KinetoKey::kOther;
    case 5:
      return same_key(key, "bytes") ? KinetoKey::kBytes : KinetoKey::kOther;
    case 6:
      if (same_key(key, "device")) return KinetoKey::kDevice;
      if (same_key(key, "stream")) return KinetoKey::kStream;
      return same_key(key, "labels") ? KinetoKey::kLabels : KinetoKey::kOther;
    case 7:
      return same_key(key, "context") ? KinetoKey::kContext : KinetoKey::kOther;
    case 8:
      return same_key(key, "graph id") ? KinetoKey::kGraphId : KinetoKey::kOther;
    case 11:
      if (same_key(key, "correlation")) return KinetoKey::kCorrelation;
      if (same_key(key, "External id") || same_key(key, "external id")) {
        return KinetoKey::kExternalId;
      }
      return KinetoKey::kOther;
    case 18:
      return same_key(key, "Record function id") ? KinetoKey::kRecordFunctionId : KinetoKey::kOther;
    default:
      return KinetoKey::kOther;
  }
}

}  // namespace teller
