// One process with a device: a host thread that launches ahead of streams. A slow kernel makes no
// host range longer but the synchronise call that waits for it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/draw.h"
#include "simulate/machine.h"
#include "simulate/step_tree.h"

namespace teller::simulate {

// A kernel or range as it is written, and its family as reconstruct makes it.
struct GpuName {
  const char* name;
  const char* family;
};

inline constexpr int kComputeStream = 7;
inline constexpr int kCommStream = 20;

class GpuRank {
 public:
  GpuRank(int rank, std::int64_t now_ns, const Key& draws, const Machine& machine,
          std::uint64_t first_correlation);

  std::int64_t now() const { return now_; }
  StepTree& tree() { return tree_; }

  int open(const char* name, Layer layer);
  void close();
  // Host work of about `ns`; `what` keys its jitter.
  void work(std::string_view what, double ns);
  // Time that passes on the host for a reason of its own.
  void pause(std::int64_t ns) { now_ += ns; }
  // A runtime or driver call.
  void call(const char* name, double ns, bool is_driver = false, std::int64_t code = 0);
  // Launches a kernel that takes `ns` of device time at the median; returns its node (of a hung
  // device: that of the launch).
  int launch(const GpuName& kernel, double ns, int stream = kComputeStream);
  // Launches a collective, and says when the device comes to it.
  int launch_collective(const GpuName& kernel, std::int64_t* arrival_ns);
  // The collective ends at `end_ns`, having waited for its last rank until `started_ns`.
  void end_collective(int node, std::int64_t started_ns, std::int64_t end_ns);
  // Later work of the compute stream waits for what the other stream holds, or the reverse.
  void wait_stream(int waiting, int stream);
  // From now on the device does nothing more: it waits for a peer that will not come.
  void hang() { is_hung_ = true; }
  // Blocks until the device is idle.
  void synchronise(const char* name);
  // The same for a call that also works for `ns` itself.
  void blocking_call(const char* name, double ns, bool is_driver);

 private:
  std::int64_t& ready(int stream) { return ready_[stream == kComputeStream ? 0 : 1]; }
  int add_call(const char* name, std::int64_t end_ns, bool is_driver);
  int parent() const { return open_.back().node; }
  Key key(std::string_view what);

  int rank_;
  std::int64_t now_;
  const Machine& machine_;
  bool is_hung_ = false, is_stuck_ = false;  // the device; the host too
  std::uint64_t correlation_;
  std::array<std::int64_t, 2> ready_{};
  // An open range: the key of its path, and how often each name came in it. Names that a fault adds
  // shift no other's draws.
  struct Open {
    int node = -1;
    Key key;
    std::vector<std::pair<std::string_view, std::uint64_t>> counts;
  };
  std::vector<Open> open_;
  StepTree tree_;
};

}  // namespace teller::simulate
