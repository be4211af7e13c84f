#include "importers/kineto_places.h"

#include <algorithm>

#include "importers/plain_json.h"

namespace teller {

namespace {

std::array<std::string_view, 5> texts_of(const KinetoPlace& place) {
  return {place.pid, place.tid, place.device, place.stream, place.context};
}

}  // namespace

std::uint32_t KinetoPlaces::number(const KinetoPlace& place) {
  const auto wanted = texts_of(place);
  for (std::size_t i = 0; i < used_; ++i) {
    const Texts& known = texts_[recent_[i]];
    const bool same =
        std::equal(wanted.begin(), wanted.end(), known.begin(),
                   [](const auto& a, const auto& b) { return plain_json::same_text(a, b); });
    if (same) return recent_[i];
  }
  const std::uint32_t number = look_up(place);
  recent_[used_ < kRecent ? used_++ : next_++ % kRecent] = number;
  return number;
}

std::uint32_t KinetoPlaces::look_up(const KinetoPlace& place) {
  key_.clear();
  for (const std::string_view text : texts_of(place)) {
    key_ += text;
    key_ += '\0';
  }
  const auto [found, is_new] =
      numbers_.try_emplace(key_, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) {
    Texts& texts = texts_.emplace_back();
    const auto parts = texts_of(place);
    std::copy(parts.begin(), parts.end(), texts.begin());
  }
  return found->second;
}

KinetoPlace KinetoPlaces::operator[](std::uint32_t number) const {
  const Texts& texts = texts_[number];
  return {texts[0], texts[1], texts[2], texts[3], texts[4]};
}

}  // namespace teller
