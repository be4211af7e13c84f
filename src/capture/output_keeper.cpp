#include "capture/output_keeper.h"

#include <unistd.h>

namespace teller::capture {

void OutputKeeper::forget(std::size_t index) {
  if (index >= channels_.size() || channels_[index].our_end < 0) return;
  close(channels_[index].our_end);
  close(channels_[index].destination);
  channels_[index].our_end = -1;
}

void OutputKeeper::take_over() {
  for (const Channel& channel : channels_) {
    if (channel.our_end < 0) continue;
    forwarders_.push_back(std::make_unique<Forwarder>(channel));
    forwarders_.back()->stop_keeping();
  }
  channels_.clear();
}

void OutputKeeper::drain() {
  const std::int64_t now = monotonic_ns();
  for (auto& forwarder : forwarders_) forwarder->hurry();
  for (auto& forwarder : forwarders_) {
    while (!forwarder->ended() && forwarder->last_idle_ns() < now) usleep(5000);
    static_cast<void>(forwarder.release());  // its thread ends with the process
  }
  forwarders_.clear();
}

}  // namespace teller::capture
