// What deviates again and again: an operator's deviation over the steps around. One slow instance
// is as often the machine's doing as the program's; the median over many steps is not.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

namespace teller::slice_detail {

// Steps on either side that count; fewer at the ends of a series.
inline constexpr std::size_t kAroundSteps = 8;
// A series needs so many steps to say anything.
inline constexpr std::size_t kFewestAround = 5;

// What one series follows: an operator key on one rank and, where its instances belong to one
// request each, of one request.
struct SeriesName {
  std::uint32_t key = 0;
  std::uint32_t request = 0;
  std::int32_t rank = -1;
  auto operator<=>(const SeriesName&) const = default;
};

class Persistence {
 public:
  // The deviation of one series in one step: steps must come in order.
  void add(const SeriesName& name, std::uint32_t step, double z);
  // Turns every value into the median of it and of kAroundSteps values on either side.
  void finish();
  // That median; 0 where the series has no value there or is too short. After finish().
  double at(const SeriesName& name, std::uint32_t step) const;

 private:
  struct Entry {
    std::uint32_t step;
    double z;
  };
  std::map<SeriesName, std::vector<Entry>> series_;
};

}  // namespace teller::slice_detail
