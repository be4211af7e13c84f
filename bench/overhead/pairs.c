// Nanoseconds for a push and its pop of NVTX, from C: pairs ROUNDS. One line per round: loops of 2,000 pairs, with a pause
// after each, so that a recorder can empty its ring; no loop of ours is dropped.
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kPairs = 2000 };

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 100;
  const struct timespec pause = {0, 12 * 1000 * 1000};
  nvtxRangePushA("warm");
  nvtxRangePop();
  for (int round = 0; round < rounds; ++round) {
    const double begin = now_ns();
    for (int i = 0; i < kPairs; ++i) {
      nvtxRangePushA("a range of usual length");
      nvtxRangePop();
    }
    printf("%.2f\n", (now_ns() - begin) / kPairs);
    nanosleep(&pause, NULL);
  }
  return 0;
}
