#include "context/engines.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "context/small_file.h"

namespace teller {

namespace {

constexpr std::uint16_t kVllmPort = 8000;
constexpr std::uint16_t kSglangPort = 30000;
constexpr std::string_view kListening = "0A";

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

template <typename T>
bool from_hex(std::string_view text, T& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::uint16_t stated_port(const std::vector<std::string>& argv, std::uint16_t otherwise) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    std::string_view text;
    if (argv[i] == "--port" && i + 1 < argv.size()) text = argv[i + 1];
    if (argv[i].starts_with("--port=")) text = std::string_view(argv[i]).substr(7);
    const auto port = to_number(text);
    if (port && *port > 0 && *port <= 0xffff) return static_cast<std::uint16_t>(*port);
  }
  return otherwise;
}

std::string link_text(const std::string& path) {
  char text[128];
  const ssize_t size = readlink(path.c_str(), text, sizeof text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : "";
}

// Inodes of the sockets that the process holds.
std::set<std::uint64_t> sockets_of(const std::string& folder) {
  std::set<std::uint64_t> inodes;
  DIR* fds = opendir((folder + "fd").c_str());
  if (fds == nullptr) return inodes;
  while (const dirent* entry = readdir(fds)) {
    const std::string target = link_text(folder + "fd/" + entry->d_name);
    if (!target.starts_with("socket:[") || !target.ends_with("]")) continue;
    const auto inode = to_number(std::string_view(target).substr(8, target.size() - 9));
    if (inode) inodes.insert(*inode);
  }
  closedir(fds);
  return inodes;
}

// "0100007F", "0000…0001": words of an address as the host keeps them.
std::string address_of(std::string_view hex) {
  char text[INET6_ADDRSTRLEN] = "";
  if (hex.size() == 8) {
    in_addr address{};
    if (!from_hex(hex, address.s_addr)) return "";
    if (address.s_addr == 0) return "127.0.0.1";
    inet_ntop(AF_INET, &address, text, sizeof text);
    return text;
  }
  if (hex.size() != 32) return "";
  in6_addr address{};
  for (int word = 0; word < 4; ++word) {
    std::uint32_t value = 0;
    if (!from_hex(hex.substr(static_cast<std::size_t>(word) * 8, 8), value)) return "";
    std::memcpy(address.s6_addr + word * 4, &value, sizeof value);
  }
  // Most that listen at all addresses of IPv6 take IPv4 as well.
  if (IN6_IS_ADDR_UNSPECIFIED(&address)) return "127.0.0.1";
  inet_ntop(AF_INET6, &address, text, sizeof text);
  return text;
}

void add_listeners(const std::string& path, const std::set<std::uint64_t>& inodes,
                   std::vector<Listener>& found) {
  const auto text = read_small_file(path);
  if (!text) return;
  std::string_view rest = *text;
  take_line(rest);
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    std::string_view words[10];
    for (std::string_view& word : words) word = take_word(line);
    const std::size_t colon = words[1].find(':');
    const auto inode = to_number(words[9]);
    if (words[3] != kListening || colon == std::string_view::npos || !inode) continue;
    Listener listener;
    listener.inode = *inode;
    listener.host = address_of(words[1].substr(0, colon));
    const bool good = from_hex(words[1].substr(colon + 1), listener.port);
    if (good && !listener.host.empty() && inodes.contains(*inode)) found.push_back(listener);
  }
}

}  // namespace

std::uint16_t engine_port(const std::vector<std::string>& argv) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string& item = argv[i];
    const bool serves = i + 1 < argv.size() && argv[i + 1] == "serve";
    if ((base_name(item) == "vllm" && serves) || item.starts_with("vllm.entrypoints.") ||
        item.find("vllm/entrypoints/") != item.npos) {
      return stated_port(argv, kVllmPort);
    }
    if ((base_name(item) == "sglang" && serves) || item == "sglang.launch_server" ||
        item.find("sglang/launch_server") != std::string::npos) {
      return stated_port(argv, kSglangPort);
    }
  }
  return 0;
}

std::vector<Listener> listeners_of(const std::string& root, std::int64_t pid) {
  const std::string folder = root + "/proc/" + std::to_string(pid) + "/";
  const bool ours = link_text(folder + "ns/net") == link_text("/proc/self/ns/net");
  const std::set<std::uint64_t> inodes = sockets_of(folder);
  std::vector<Listener> found;
  if (!ours || inodes.empty()) return found;
  add_listeners(folder + "net/tcp", inodes, found);
  add_listeners(folder + "net/tcp6", inodes, found);
  return found;
}

std::vector<Listener> worth_asking(const std::vector<Listener>& listeners, std::uint16_t port) {
  std::vector<Listener> expected;
  std::copy_if(listeners.begin(), listeners.end(), std::back_inserter(expected),
               [&](const Listener& listener) { return listener.port == port; });
  return expected.empty() ? listeners : expected;
}

}  // namespace teller
