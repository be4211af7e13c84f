// NCCL's RAS service: a line protocol on a TCP port of the host (NCCL_RAS_ADDR, 28028).
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "procfs/procfs.h"
#include "snapshot/secrets.h"
#include "snapshot/surroundings.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kPort = 28028;
constexpr int kTimeoutMs = 2000;
constexpr std::size_t kMostBytes = 1u << 20;

// A connection on which every wait ends at one deadline.
class Connection {
 public:
  explicit Connection(int timeout_ms)
      : deadline_{std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms)} {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }

  bool connect_to(int port) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (fd_ < 0) return false;
    if (connect(fd_, generic, sizeof address) == 0) return true;
    if (errno != EINPROGRESS || !wait_for(POLLOUT)) return false;
    int error = 0;
    socklen_t size = sizeof error;
    return getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }

  bool say(const std::string& line) {
    return send(fd_, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size());
  }

  // What arrives until the first newline, or with `all` until the end.
  std::string hear(bool all) {
    std::string text;
    char buffer[4096];
    while (text.size() < kMostBytes && wait_for(POLLIN)) {
      const ssize_t count = recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      text.append(buffer, static_cast<std::size_t>(count));
      if (!all && text.ends_with('\n')) break;
    }
    return text;
  }

 private:
  bool wait_for(short what) const {
    pollfd wait{fd_, what, 0};
    while (!deadline_.over()) {
      const int ready = poll(&wait, 1, deadline_.left_ms(kTimeoutMs));
      if (ready >= 0 || errno != EINTR) return ready == 1;
    }
    return false;
  }

  int fd_ = -1;
  Deadline deadline_;
};

// "host:port" of NCCL_RAS_ADDR.
int port_of(const Process& process) {
  const std::string address = variable_in(process.environment, "NCCL_RAS_ADDR");
  const std::size_t colon = address.rfind(':');
  const int port = colon == std::string::npos ? 0 : std::atoi(address.c_str() + colon + 1);
  return port > 0 && port < 65536 ? port : kPort;
}

bool listens(const OpenFiles& open, int port) {
  for (const Descriptor& file : open.files) {
    const auto found = open.sockets.find(inode_of(file.target));
    if (file.target.starts_with("socket:") && found != open.sockets.end() &&
        found->second.state == "LISTEN" && found->second.local_port == port)
      return true;
  }
  return false;
}

}  // namespace

std::string ask_ras(int port, int timeout_ms) {
  Connection connection(timeout_ms);
  if (!connection.connect_to(port) || !connection.say("CLIENT PROTOCOL 2\n")) return "";
  if (!connection.hear(false).starts_with("SERVER PROTOCOL ")) return "";
  // How long NCCL waits for its other processes.
  if (!connection.say("TIMEOUT 1\n") || !connection.hear(false).starts_with("OK")) return "";
  if (!connection.say("VERBOSE STATUS\n")) return "";
  return connection.hear(true);
}

Json ras_json(Job& job, const std::vector<OpenFiles>& open) {
  for (std::size_t i = 0; i < job.processes.size(); ++i) {
    const Process& process = job.processes[i];
    const int port = port_of(process);
    // Only a service of this job is asked.
    if (!listens(open[i], port)) continue;
    const std::string text = ask_ras(port, job.deadline.left_ms(kTimeoutMs));
    if (!text.empty()) return {{"pid", process.pid}, {"port", port}, {"text", redact(text)}};
    job.add_gap("NCCL RAS", process.pid,
                "port " + std::to_string(port) + " of this host does not answer as NCCL's RAS");
    return {};
  }
  const bool ranks = std::any_of(job.processes.begin(), job.processes.end(), [](const Process& p) {
    return !variable_in(p.environment, "RANK").empty();
  });
  if (!ranks) return {};
  job.add_gap("NCCL RAS", 0, "no process of the job offers it here",
              "it needs NCCL 2.24 or newer, with NCCL_RAS_ENABLE not 0");
  return {};
}

}  // namespace teller::snapshot_detail
