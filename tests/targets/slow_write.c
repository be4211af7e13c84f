// To be preloaded: a disk that stalls. Each write to a file of events takes TELLER_TEST_STALL_MS.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int is_event_file(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 4) return 0;
  return memcmp(path + length - 4, ".tev", 4) == 0;
}

ssize_t write(int fd, const void* data, size_t size) {
  const char* stall = getenv("TELLER_TEST_STALL_MS");
  if (stall != NULL && is_event_file(fd)) {
    const long ms = atol(stall);
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
  }
  return syscall(SYS_write, fd, data, size);
}
