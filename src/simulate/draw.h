// Random draws keyed by what they are for (seed, step, rank, node path), never by call order: a
// twin of a step that runs other rows sees the same draws for the rows that both run.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

namespace teller::simulate {

// A key of draws; `with` narrows it. The same key always draws the same numbers.
class Key {
 public:
  explicit constexpr Key(std::uint64_t seed) : state_(mix(seed + 0x9e3779b97f4a7c15ULL)) {}

  constexpr Key with(std::uint64_t part) const {
    Key key = *this;
    key.state_ = mix(state_ ^ mix(part + 0x632be59bd9b4e019ULL));
    return key;
  }
  constexpr Key with(std::string_view part) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : part) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return with(hash);
  }
  constexpr std::uint64_t bits() const { return mix(state_ + 0xd1b54a32d192ed03ULL); }
  // Uniform in (0, 1).
  constexpr double uniform() const { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1.0p-53; }
  // Uniform in [low, high].
  double between(double low, double high) const { return low + (high - low) * uniform(); }
  // Uniform in its logarithm.
  double log_between(double low, double high) const {
    return std::exp(between(std::log(low), std::log(high)));
  }
  // A whole number in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high) const {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) const { return uniform() < probability; }
  // Standard normal (Box and Muller).
  double normal() const {
    const double radius = std::sqrt(-2 * std::log(with(1).uniform()));
    return radius * std::cos(6.283185307179586 * with(2).uniform());
  }

 private:
  // The finaliser of splitmix64.
  static constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
  }
  std::uint64_t state_;
};

}  // namespace teller::simulate
