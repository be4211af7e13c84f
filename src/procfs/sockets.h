// The sockets of a network namespace, with peers and queues.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace teller {

struct SocketInfo {
  std::string protocol;  // "tcp", "tcp6", "udp", "udp6", "unix"
  std::string state;     // "ESTABLISHED", "LISTEN", …; "" for unix
  std::string local;     // ADDRESS:PORT, or the path of a unix socket
  std::string peer;      // "" where there is none
  int local_port = 0;
  std::uint64_t send_queue_bytes = 0;     // not yet acknowledged
  std::uint64_t receive_queue_bytes = 0;  // not yet read; of a listener: connections that wait
};

// Adds what the text of /proc/net/<protocol> lists, by inode.
void parse_sockets(std::string_view text, const std::string& protocol,
                   std::map<std::uint64_t, SocketInfo>& sockets);
// All sockets in the network namespace of process `pid`, by inode.
std::map<std::uint64_t, SocketInfo> read_sockets(std::int64_t pid);

}  // namespace teller
