// To be preloaded: the call named by TELLER_TEST_FAIL fails, as if the system were out of memory.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int refused(const char* name) {
  const char* wanted = getenv("TELLER_TEST_FAIL");
  if (wanted == NULL || strcmp(wanted, name) != 0) return 0;
  errno = ENOMEM;
  return 1;
}

int bind(int fd, const void* address, unsigned size) {
  return refused("bind") ? -1 : (int)syscall(SYS_bind, fd, address, size);
}

int signalfd(int fd, const sigset_t* mask, int flags) {
  return refused("signalfd") ? -1 : (int)syscall(SYS_signalfd4, fd, mask, _NSIG / 8, flags);
}
