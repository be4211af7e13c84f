#include "capture/control_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace teller::capture {

namespace {

constexpr std::size_t kMaxClients = 64;

bool address_of(const std::string& path, sockaddr_un* address) {
  *address = {};
  address->sun_family = AF_UNIX;
  if (path.size() >= sizeof address->sun_path) return false;
  std::memcpy(address->sun_path, path.c_str(), path.size() + 1);
  return true;
}

// The folder of the socket is closed to others already; this holds even where it is not.
bool is_same_user(int connection) {
  ucred client{};
  socklen_t size = sizeof client;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &client, &size) != 0) return false;
  return client.uid == geteuid() || client.uid == 0;
}

// Appends what has arrived; false if the other side is gone or says too much.
bool read_some(int connection, std::string& text) {
  char buffer[kMaxControlBytes];
  for (;;) {
    const ssize_t count = recv(connection, buffer, sizeof buffer, MSG_DONTWAIT);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    if (count == 0) return false;
    text.append(buffer, static_cast<std::size_t>(count));
    if (text.find('\n') != std::string::npos) return true;
    if (text.size() > kMaxControlBytes) return false;
  }
}

}  // namespace

Result<ControlSocket> ControlSocket::listen_at(const std::string& path) {
  ControlSocket control;
  sockaddr_un address{};
  if (!address_of(path, &address)) return errno_error("listening at " + path, ENAMETOOLONG);
  control.listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (control.listener_ < 0) return errno_error("opening a socket", errno);
  if (bind(control.listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(control.listener_, 16) != 0) {
    return errno_error("listening at " + path, errno);
  }
  control.path_ = path;
  return control;
}

ControlSocket::ControlSocket(ControlSocket&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      listener_(std::exchange(other.listener_, -1)),
      clients_(std::exchange(other.clients_, {})) {}

ControlSocket& ControlSocket::operator=(ControlSocket&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(listener_, other.listener_);
  std::swap(clients_, other.clients_);
  return *this;
}

ControlSocket::~ControlSocket() {
  for (const Client& client : clients_) close(client.connection);
  if (listener_ >= 0) close(listener_);
  if (!path_.empty()) unlink(path_.c_str());
}

void ControlSocket::accept_clients() {
  for (;;) {
    const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (connection < 0) return;
    if (!is_same_user(connection)) {
      close(connection);
      continue;
    }
    // A request comes right after its connection: who has said nothing for longest will not.
    if (clients_.size() >= kMaxClients) {
      close(clients_.front().connection);
      clients_.erase(clients_.begin());
    }
    clients_.push_back({connection, ""});
  }
}

std::vector<ControlRequest> ControlSocket::take() {
  std::vector<ControlRequest> requests;
  if (listener_ < 0) return requests;
  accept_clients();
  std::vector<Client> waiting;
  for (Client& client : clients_) {
    const bool open = read_some(client.connection, client.text);
    const std::size_t end = client.text.find('\n');
    if (end != std::string::npos) {
      requests.push_back({client.connection, client.text.substr(0, end)});
    } else if (open) {
      waiting.push_back(std::move(client));
    } else {
      close(client.connection);
    }
  }
  clients_ = std::move(waiting);
  return requests;
}

void answer(int connection, const std::string& line) {
  const std::string text = line + "\n";
  // A client that does not read has its own buffer to hold one line; if not, it gets none.
  if (send(connection, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) errno = 0;
  close(connection);
}

namespace {

using Clock = std::chrono::steady_clock;

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
}

Error too_late() {
  return {ErrorCode::kIo, "waiting for the recorder: no answer within the time", ""};
}

// A recorder with many clients takes no more for a while.
Status connect_until(int connection, const sockaddr_un& address, Clock::time_point deadline) {
  while (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (errno != EAGAIN && errno != EINTR) return errno_error("connecting", errno);
    if (left_ms(deadline) == 0) return too_late();
    poll(nullptr, 0, 10);
  }
  return {};
}

// Reads up to the end of the line, or to the end of the time.
Result<std::string> read_answer(int connection, Clock::time_point deadline) {
  std::string text;
  char buffer[kMaxControlBytes];
  for (;;) {
    pollfd watched{connection, POLLIN, 0};
    const int ready = poll(&watched, 1, left_ms(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return too_late();
    const ssize_t count = recv(connection, buffer, sizeof buffer, 0);
    if (count < 0 && errno == EAGAIN) continue;
    if (count <= 0) return Error{ErrorCode::kIo, "the recorder ended without an answer", ""};
    text.append(buffer, static_cast<std::size_t>(count));
    const std::size_t end = text.find('\n');
    if (end != std::string::npos) return text.substr(0, end);
    if (text.size() > 4 * kMaxControlBytes) {
      return Error{ErrorCode::kIo, "the recorder's answer makes no sense", ""};
    }
  }
}

}  // namespace

Result<std::string> ask_recorder(const std::string& path, const std::string& line,
                                 double timeout_s) {
  const std::string what = "asking the recorder at " + path;
  const auto deadline =
      Clock::now() + std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
  sockaddr_un address{};
  if (!address_of(path, &address)) return errno_error(what, ENAMETOOLONG);
  const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) return errno_error("opening a socket", errno);
  const std::string text = line + "\n";
  Result<std::string> result = std::string();
  if (const Status connected = connect_until(connection, address, deadline); !connected) {
    result = Error{connected.error().code, what + ": " + connected.error().message, ""};
  } else if (send(connection, text.data(), text.size(), MSG_NOSIGNAL) < 0) {
    result = errno_error(what, errno);
  } else {
    result = read_answer(connection, deadline);
  }
  close(connection);
  return result;
}

}  // namespace teller::capture
