// What other commands say to a recorder that is at work: today `teller trigger RUN`. A Unix socket
// beside the one where traced processes announce themselves; its path is in the run's manifest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "teller/result.h"

namespace teller::capture {

// A request of one line of JSON, and the connection on which its answer, one line too, is awaited.
struct ControlRequest {
  int connection = -1;
  std::string text;
};

// Longest request and answer, bytes.
inline constexpr std::size_t kMaxControlBytes = 4096;

// The recorder's side. Not thread-safe; never waits for a client.
class ControlSocket {
 public:
  // Listens at `path`, which must not exist.
  static Result<ControlSocket> listen_at(const std::string& path);
  ControlSocket() = default;
  ControlSocket(ControlSocket&& other) noexcept;
  ControlSocket& operator=(ControlSocket&& other) noexcept;
  ~ControlSocket();

  int listener() const { return listener_; }
  const std::string& path() const { return path_; }
  // Requests that have arrived whole. The caller answers each.
  std::vector<ControlRequest> take();

 private:
  struct Client {
    int connection = -1;
    std::string text;
  };
  void accept_clients();

  std::string path_;
  int listener_ = -1;
  std::vector<Client> clients_;
};

// Sends the answer and closes the connection.
void answer(int connection, const std::string& line);

// The client's side: sends `line` to the recorder at `path` and waits up to `timeout_s` for its
// answer.
Result<std::string> ask_recorder(const std::string& path, const std::string& line,
                                 double timeout_s);

}  // namespace teller::capture
