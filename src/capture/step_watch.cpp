#include "capture/step_watch.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kRemembered = 256;
constexpr std::size_t kMaxDepth = 65536;

std::string described(const char* what, double duration_ns, double median_ns) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %.1f ms, %.1f times the median of %.1f ms", what,
                duration_ns / 1e6, duration_ns / median_ns, median_ns / 1e6);
  return text;
}

}  // namespace

double StepWatch::median() const {
  if (durations_.size() < kMinSteps) return 0;
  std::vector<double> sorted(durations_.begin(), durations_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

void StepWatch::begin(std::vector<Open>& stack, bool step, std::int64_t begin_ns,
                      std::int64_t now_ns) {
  const bool inside = std::any_of(stack.begin(), stack.end(), [](const Open& o) { return o.step; });
  if (stack.size() < kMaxDepth) stack.push_back({begin_ns, now_ns, step && !inside, false});
}

void StepWatch::end(std::vector<Open>& stack, std::int64_t end_ns) {
  if (stack.empty()) return;
  const Open range = stack.back();
  stack.pop_back();
  if (!range.step) return;
  const auto duration = static_cast<double>(end_ns - range.begin_ns);
  const double usual = median();
  if (usual > 0 && duration > factor_ * usual && !range.told && found_.empty()) {
    found_ = described("a step took", duration, usual);
  }
  durations_.push_back(duration);
  if (durations_.size() > kRemembered) durations_.pop_front();
}

void StepWatch::on_record(std::uint32_t ring, const ring::RecordHeader& header,
                          std::string_view payload, std::int64_t now_ns) {
  if (factor_ <= 0) return;
  const auto type = static_cast<ring::RecordType>(header.type);
  if (type == ring::RecordType::kThread) return open_[ring].clear();
  if (type != ring::RecordType::kPush && type != ring::RecordType::kPop) return;
  ring::TextRecord fixed{};
  if (payload.size() < sizeof fixed) return;
  std::memcpy(&fixed, payload.data(), sizeof fixed);
  if (!names_.is_ours(fixed)) return;
  const auto time_ns = static_cast<std::int64_t>(header.time_ns);
  if (type == ring::RecordType::kPop) return end(open_[ring], time_ns);
  begin(open_[ring], names_.is_step(fixed), time_ns, now_ns);
}

std::string StepWatch::take(std::int64_t now_ns) {
  const double usual = factor_ > 0 ? median() : 0;
  for (auto& [ring, stack] : open_) {
    if (usual <= 0 || !found_.empty()) break;
    for (Open& range : stack) {
      const std::int64_t age = now_ns - range.drained_ns;
      if (!range.step || range.told || age < kMinOpenNs) continue;
      if (static_cast<double>(age) <= factor_ * usual) continue;
      range.told = true;
      found_ = described("a step has not ended after", static_cast<double>(age), usual);
    }
  }
  return std::exchange(found_, "");
}

}  // namespace teller::capture
