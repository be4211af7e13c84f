#include "procfs/sockets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "procfs/procfs.h"

namespace teller {

namespace {

constexpr const char* kTcpStates[] = {"?",          "ESTABLISHED", "SYN_SENT",  "SYN_RECV",
                                      "FIN_WAIT1",  "FIN_WAIT2",   "TIME_WAIT", "CLOSE",
                                      "CLOSE_WAIT", "LAST_ACK",    "LISTEN",    "CLOSING"};

// "0100007F:1F90" as an address and a port: words of four bytes in the machine's order.
std::string address_text(const std::string& hex, int* port) {
  const std::size_t colon = hex.find(':');
  if (colon != 8 && colon != 32) return "";
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < colon / 8; ++i) {
    words[i] = static_cast<std::uint32_t>(std::strtoul(hex.substr(8 * i, 8).c_str(), nullptr, 16));
  }
  *port = static_cast<int>(std::strtol(hex.c_str() + colon + 1, nullptr, 16));
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(colon == 8 ? AF_INET : AF_INET6, words.data(), text.data(), text.size());
  const std::string address = colon == 8 ? text.data() : "[" + std::string(text.data()) + "]";
  return address + ":" + std::to_string(*port);
}

// "sl local rem st tx:rx tr:tm retrnsmt uid timeout inode …"
void add_inet(const std::string& line, const std::string& protocol,
              std::map<std::uint64_t, SocketInfo>& sockets) {
  std::istringstream in(line);
  std::string number, local, peer, state, queues, timer, retransmits, user, timeout;
  std::uint64_t inode = 0;
  in >> number >> local >> peer >> state >> queues >> timer >> retransmits >> user >> timeout >>
      inode;
  if (!in || inode == 0) return;
  SocketInfo info;
  info.protocol = protocol;
  const auto code = static_cast<std::size_t>(std::strtoul(state.c_str(), nullptr, 16));
  if (protocol.starts_with("tcp") && code < std::size(kTcpStates)) info.state = kTcpStates[code];
  int peer_port = 0;
  info.local = address_text(local, &info.local_port);
  const std::string peer_text = address_text(peer, &peer_port);
  if (peer_port != 0) info.peer = peer_text;
  info.send_queue_bytes = std::strtoull(queues.c_str(), nullptr, 16);
  const std::size_t colon = queues.find(':');
  if (colon != std::string::npos) {
    info.receive_queue_bytes = std::strtoull(queues.c_str() + colon + 1, nullptr, 16);
  }
  sockets[inode] = std::move(info);
}

// "Num RefCount Protocol Flags Type St Inode Path"
void add_unix(const std::string& line, std::map<std::uint64_t, SocketInfo>& sockets) {
  std::istringstream in(line);
  std::string number, references, protocol, flags, type, state, path;
  std::uint64_t inode = 0;
  in >> number >> references >> protocol >> flags >> type >> state >> inode;
  if (!in || inode == 0) return;
  in >> path;
  SocketInfo info;
  info.protocol = "unix";
  info.local = path;
  if (flags == "00010000") info.state = "LISTEN";
  sockets[inode] = std::move(info);
}

}  // namespace

void parse_sockets(std::string_view text, const std::string& protocol,
                   std::map<std::uint64_t, SocketInfo>& sockets) {
  std::istringstream lines{std::string(text)};
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    protocol == "unix" ? add_unix(line, sockets) : add_inet(line, protocol, sockets);
  }
}

std::map<std::uint64_t, SocketInfo> read_sockets(std::int64_t pid) {
  std::map<std::uint64_t, SocketInfo> sockets;
  for (const char* protocol : {"tcp", "tcp6", "udp", "udp6", "unix"}) {
    parse_sockets(read_proc(pid, std::string("net/") + protocol), protocol, sockets);
  }
  return sockets;
}

}  // namespace teller
