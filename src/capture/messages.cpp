#include "capture/messages.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace teller::capture {

bool send_message(int socket, const Message& message, const std::string& text) {
  std::string packet(reinterpret_cast<const char*>(&message), sizeof message);
  packet += text.substr(0, 8192);
  return send(socket, packet.data(), packet.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(packet.size());
}

bool receive_message(int socket, Message* message, std::string* text, bool wait) {
  char packet[16384];
  ssize_t count = 0;
  do {
    count = recv(socket, packet, sizeof packet, wait ? 0 : MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count < static_cast<ssize_t>(sizeof *message)) {
    if (count >= 0) errno = 0;
    return false;
  }
  std::memcpy(message, packet, sizeof *message);
  text->assign(packet + sizeof *message, static_cast<std::size_t>(count) - sizeof *message);
  return true;
}

int receive_hello(int connection, ring::Hello* hello) {
  iovec part{hello, sizeof *hello};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  // Room for one descriptor: the kernel opens no more than that.
  message.msg_controllen = CMSG_LEN(sizeof(int));
  const ssize_t count = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return kNothingYet;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  if (count == static_cast<ssize_t>(sizeof *hello) && hello->magic == ring::kArenaMagic) return fd;
  close(fd);
  return -1;
}

}  // namespace teller::capture
