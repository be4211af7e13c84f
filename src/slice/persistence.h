// What deviates again and again: an operator's deviation over the steps around. One slow instance
// is as often the machine's doing as the program's; the median over many steps is not.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace teller::slice_detail {

// Steps on either side that count; fewer at the ends of a series.
inline constexpr std::size_t kAroundSteps = 8;
// A series needs so many steps to say anything.
inline constexpr std::size_t kFewestAround = 5;

// One series per operator key and, where its instances belong to one request each, per request.
class Persistence {
 public:
  // The deviation of one series in one step: steps must come in order.
  void add(std::uint32_t key, std::uint32_t request, std::uint32_t step, double z);
  // Turns every value into the median of it and of kAroundSteps values on either side.
  void finish();
  // That median; 0 where the series has no value there or is too short. After finish().
  double at(std::uint32_t key, std::uint32_t request, std::uint32_t step) const;

 private:
  struct Entry {
    std::uint32_t step;
    double z;
  };
  std::unordered_map<std::uint64_t, std::vector<Entry>> series_;  // looked up, or walked per series
};

}  // namespace teller::slice_detail
