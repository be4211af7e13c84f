// Finds the metrics of engines among processes: which of them serve, and where they listen. Private
// to context/ and its tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "context/context.h"

namespace teller {

// The port at which such a server should listen: what its arguments say, else the default of vLLM
// or SGLang; 0 if they are no server of theirs.
std::uint16_t engine_port(const std::vector<std::string>& argv);

struct Listener {
  std::string host;  // an address at which this host reaches it
  std::uint16_t port = 0;
  std::uint64_t inode = 0;  // of its socket
};
// The TCP sockets at which a process listens, if it is in our network namespace. `root` is put
// before /proc.
std::vector<Listener> listeners_of(const std::string& root, std::int64_t pid);
// Those of them to ask: the one at `port` if there is one, else all.
std::vector<Listener> worth_asking(const std::vector<Listener>& listeners, std::uint16_t port);

}  // namespace teller
