// Numbers the places at which events of a Kineto trace happen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace teller {

// The texts that place an event, as the source wrote them; "" where it did not.
struct KinetoPlace {
  std::string_view pid;
  std::string_view tid;
  std::string_view device;
  std::string_view stream;
  std::string_view context;
};

// Gives equal places equal numbers, in order of first appearance.
class KinetoPlaces {
 public:
  std::uint32_t number(const KinetoPlace& place);
  std::size_t size() const { return texts_.size(); }
  // The texts stay where they are as long as this lives.
  KinetoPlace operator[](std::uint32_t number) const;

 private:
  using Texts = std::array<std::string, 5>;
  std::uint32_t look_up(const KinetoPlace& place);

  // Events come in long rows from the same places: a few of them are compared first.
  static constexpr std::size_t kRecent = 4;
  std::array<std::uint32_t, kRecent> recent_{};
  std::size_t used_ = 0;
  std::size_t next_ = 0;
  std::deque<Texts> texts_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::string key_;
};

}  // namespace teller
