// The recorder's end of the collector's arena, played by a test.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "capture/arena_reader.h"
#include "capture/messages.h"
#include "preload/arena.h"

namespace teller::collector {

// Takes this process's arena over, as the recorder does. There is one per process.
inline capture::ArenaReader& recorder() {
  static std::unique_ptr<capture::ArenaReader> reader = [] {
    char folder[] = "/tmp/teller-test-XXXXXX";
    EXPECT_NE(mkdtemp(folder), nullptr);
    const std::string path = std::string(folder) + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(listener, 4), 0);
    setenv("TELLER_SOCKET", path.c_str(), 1);
    EXPECT_TRUE(ensure_arena());
    const int connection = accept(listener, nullptr, nullptr);
    ring::Hello hello{};
    const int fd = capture::receive_hello(connection, &hello);
    auto made = std::make_unique<capture::ArenaReader>(std::move(*capture::ArenaReader::map(fd)));
    for (const int open : {fd, connection, listener}) close(open);
    unlink(path.c_str());
    rmdir(folder);
    return made;
  }();
  return *reader;
}

}  // namespace teller::collector
