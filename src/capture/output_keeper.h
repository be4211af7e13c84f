// The launcher's own ends of the channels, for the case that the recorder dies.
#pragma once

#include <memory>
#include <vector>

#include "capture/channel.h"
#include "capture/forwarder.h"

namespace teller::capture {

// A program whose output nobody reads any more would be killed by SIGPIPE: should the recorder die,
// the launcher passes the output on.
class OutputKeeper {
 public:
  explicit OutputKeeper(std::vector<Channel> channels) : channels_(std::move(channels)) {}

  // The recorder is done with a channel: nobody may hold it open now.
  void forget(std::size_t index);
  // The recorder has died: passes the output on from here, without keeping it.
  void take_over();
  // Waits until what the program wrote before now has been passed on. What a grandchild writes
  // later is lost.
  void drain();

 private:
  std::vector<Channel> channels_;
  std::vector<std::unique_ptr<Forwarder>> forwarders_;
};

}  // namespace teller::capture
