// When the streams of one process were captured into graphs: what is launched then does not run.
// Private to reconstruct/ and its tests.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace teller {

class GraphCaptures {
 public:
  // Calls on `thread`, each thread's in the order of time.
  void begin(std::uint32_t thread, std::int64_t begin_ns) { open_.try_emplace(thread, begin_ns); }
  void end(std::uint32_t thread, std::int64_t end_ns) {
    const auto open = open_.find(thread);
    if (open == open_.end()) return;
    whole_.emplace_back(open->second, end_ns);
    open_.erase(open);
  }
  // After the last call, before hold().
  void close() {
    std::sort(whole_.begin(), whole_.end());
    std::size_t kept = 0;
    for (std::size_t at = 1; at < whole_.size(); ++at) {
      if (whole_[at].first <= whole_[kept].second) {
        whole_[kept].second = std::max(whole_[kept].second, whole_[at].second);
      } else {
        whole_[++kept] = whole_[at];
      }
    }
    if (!whole_.empty()) whole_.resize(kept + 1);
  }

  // True if work launched at this time goes into a graph. Streams join a capture by events, from
  // whichever thread: a whole capture counts for all of them, one without an end (its record may be
  // lost) only for its own thread.
  bool hold(std::uint32_t thread, std::int64_t time_ns) const {
    const auto open = open_.find(thread);
    if (open != open_.end() && time_ns >= open->second) return true;
    const auto after = std::partition_point(
        whole_.begin(), whole_.end(), [&](const auto& whole) { return whole.first <= time_ns; });
    return after != whole_.begin() && std::prev(after)->second >= time_ns;
  }

 private:
  std::map<std::uint32_t, std::int64_t> open_;                // by thread: begin
  std::vector<std::pair<std::int64_t, std::int64_t>> whole_;  // apart and sorted after close()
};

}  // namespace teller
