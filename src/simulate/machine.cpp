#include "simulate/machine.h"

#include <algorithm>
#include <cmath>

namespace teller::simulate {

namespace {

constexpr double kOperatorsPerStep = 60;
constexpr std::uint64_t kMostLosses = 64;  // of the core, in one operator
constexpr int kMemorySteps = 24;           // how far a step's pace looks back

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

}  // namespace

Machine::Machine(const Key& seed, const MachineConfig& config, int max_steps)
    : seed_(seed.with("machine")), stretch_(static_cast<std::size_t>(max_steps) + 2, 0.0F) {
  log_run_pace_ = std::log(seed_.with("pace").log_between(config.min_pace, config.max_pace));
  const bool contended = seed_.with("contended").chance(config.contended_share);
  busy_ = seed_.with("busy").chance(contended ? 0.4 : 0.65);
  const double unrest = seed_.with("unrest").uniform();
  slice_rate_ = config.max_slice_rate * unrest * unrest;
  if (contended) {
    quantum_ns_ = seed_.with("quantum").log_between(2e6, 3e7);
    waiting_ns_ = seed_.with("waiting").log_between(1.5e6, 1e7);
  }
  gc_rate_ = config.gc_per_step / kOperatorsPerStep;
  const double rate = config.stretches_per_step * 2 * unrest;
  for (std::size_t step = 0; step < stretch_.size(); ++step) {
    const Key key = seed_.with("stretch").with(step);
    if (!key.chance(rate)) continue;
    const auto length = static_cast<std::size_t>(key.with("length").log_between(3, 60));
    const double factor = std::log(key.with("factor").between(1.5, 4));
    const std::size_t end = std::min(step + length, stretch_.size());
    for (std::size_t i = step; i < end; ++i) {
      stretch_[i] = std::max(stretch_[i], static_cast<float>(factor));
    }
  }
}

double Machine::log_pace(int step, const Quantiles& paces, double correlation) const {
  double sum = 0;
  double weight = 1;
  double squares = 0;
  for (int back = 0; back < kMemorySteps; ++back) {
    const auto number = static_cast<std::uint64_t>(step + kMemorySteps - back);
    sum += weight * seed_.with("step").with(number).normal();
    squares += weight * weight;
    weight *= correlation;
  }
  const double u = normal_cdf(sum / std::sqrt(squares));
  const auto index = std::min(static_cast<std::size_t>(step), stretch_.size() - 1);
  return log_run_pace_ + paces.at(u) + stretch_[index];
}

std::int64_t Machine::lost_ns(const Key& draws, std::int64_t work_ns) const {
  std::int64_t lost = 0;
  double worked = 0;
  for (std::uint64_t i = 0; quantum_ns_ > 0 && i < kMostLosses; ++i) {
    const Key key = draws.with("core").with(i);
    worked -= quantum_ns_ * std::log(key.with("after").uniform());
    if (worked > static_cast<double>(work_ns)) break;
    lost += static_cast<std::int64_t>(waiting_ns_ * key.with("for").log_between(0.4, 2));
  }
  if (draws.with("slice").chance(slice_rate_)) {
    lost += static_cast<std::int64_t>(draws.with("slice length").log_between(4e6, 40e6));
  }
  if (draws.with("gc").chance(gc_rate_)) {
    lost += static_cast<std::int64_t>(draws.with("gc length").log_between(1e6, 12e6));
  }
  return lost;
}

}  // namespace teller::simulate
