// A program that marks itself with NVTX and then misbehaves in the way named by its first argument.
#define _GNU_SOURCE
#include <fcntl.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void ranges(int count, const char* name) {
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(name);
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
  }
}

static void* thread_main(void* argument) {
  ranges(10, argument);
  return NULL;
}

// All at the same time.
static void threads(int count) {
  pthread_t* ids = calloc((size_t)count, sizeof *ids);
  for (int i = 0; i < count; ++i) pthread_create(&ids[i], NULL, thread_main, "thread");
  for (int i = 0; i < count; ++i) pthread_join(ids[i], NULL);
  free(ids);
}

// One after the other: more than there are rings.
static void storm(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t id;
    pthread_create(&id, NULL, thread_main, "storm");
    pthread_join(id, NULL);
    if (i % 100 == 0) usleep(20000);
  }
}

static nvtxEventAttributes_t registered(nvtxStringHandle_t string) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = string;
  return attributes;
}

static void fork_and_mark(int raw) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("kept");
  nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, "registered before fork");
  ranges(2, "parent");
  const pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
  if (child == 0) {
    ranges(3, "child");
    nvtxEventAttributes_t attributes = registered(string);
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  ranges(1, "parent");
}

// As a daemon does; then the lowest free descriptor must be 0, as without us.
static void close_everything(const char* report) {
  for (int fd = 0; fd < 1024; ++fd) close(fd);
  ranges(2, "closed");
  const int first = open(report, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  dprintf(first, "%d\n", first);
  ranges(2, "closed");
}

static void* end_range(void* id) {
  nvtxRangeEnd(*(nvtxRangeId_t*)id);
  return NULL;
}

static void across_threads(void) {
  nvtxRangeId_t id = nvtxRangeStartA("crossing");
  pthread_t thread;
  pthread_create(&thread, NULL, end_range, &id);
  pthread_join(thread, NULL);
  nvtxRangePushW(L"wide \x00e9\x4e2d\x1f600");
  nvtxRangePop();
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "named by NVTX");
}

// Harmless without a tool, where nobody looks at them.
static void bogus_handles(void) {
  static const uintptr_t made_up[] = {
      1, 2, 8, 0x1234, 0xdeadbeef, 0xdeadbeefcafe, ~(uintptr_t)0, ~(uintptr_t)1};
  nvtxRangePushA("outer");
  for (size_t i = 0; i < sizeof made_up / sizeof *made_up; ++i) {
    nvtxDomainHandle_t domain = (nvtxDomainHandle_t)made_up[i];
    nvtxEventAttributes_t attributes = registered((nvtxStringHandle_t)made_up[i]);
    nvtxMarkEx(&attributes);
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
    nvtxDomainRangePop(domain);
    nvtxDomainNameCategoryA(domain, 1, "category");
    nvtxDomainRegisterStringA(domain, "string");
    nvtxDomainRangeEnd(domain, made_up[i]);
    nvtxDomainDestroy(domain);
  }
  nvtxRangePop();
  nvtxEventAttributes_t attributes = registered(nvtxDomainRegisterStringA(NULL, "ours"));
  nvtxMarkEx(&attributes);
}

// More text than the definitions hold: the last ones are kept elsewhere.
static void many_strings(int count) {
  char* text = malloc(100001);
  memset(text, 'x', 100000);
  text[100000] = 0;
  nvtxStringHandle_t last = NULL;
  for (int i = 0; i < count; ++i) {
    text[0] = (char)('a' + i % 26);
    last = nvtxDomainRegisterStringA(NULL, i + 1 < count ? text : "the last one");
  }
  nvtxEventAttributes_t attributes = registered(last);
  nvtxMarkEx(&attributes);
  free(text);
}

// A child that outlives us and holds our output open.
static void leave_child(double seconds) {
  if (fork() != 0) return;
  ranges(1, "grandchild");
  usleep((useconds_t)(seconds * 1e6));
  printf("late\n");
  fflush(stdout);
  ranges(1, "grandchild late");
  _exit(0);
}

// At a pace that the recorder keeps up with.
static void paced(long pairs) {
  for (long i = 0; i < pairs; ++i) {
    nvtxRangePushA("paced");
    nvtxRangePop();
    if (i % 1000 == 0) usleep(12000);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  const char* value = argc > 2 ? argv[2] : "1";
  if (!strcmp(what, "ranges")) ranges(atoi(value), "range");
  if (!strcmp(what, "threads")) threads(atoi(value));
  if (!strcmp(what, "storm")) storm(atoi(value));
  if (!strcmp(what, "fork")) fork_and_mark(0);
  if (!strcmp(what, "rawfork")) fork_and_mark(1);
  if (!strcmp(what, "closefds")) close_everything(value);
  if (!strcmp(what, "crossing")) across_threads();
  if (!strcmp(what, "handles")) bogus_handles();
  if (!strcmp(what, "strings")) many_strings(atoi(value));
  if (!strcmp(what, "leave")) leave_child(atof(value));
  if (!strcmp(what, "paced")) paced(atol(value));
  if (!strcmp(what, "die")) {
    ranges(5, "before");
    nvtxRangePushA("open at death");
    printf("before death\n");
    fflush(stdout);
    raise(atoi(value));
  }
  if (!strcmp(what, "_exit")) {
    ranges(5, "before");
    _exit(atoi(value));
  }
  if (!strcmp(what, "exec")) {
    ranges(2, "before exec");
    execl("/proc/self/exe", argv[0], "ranges", "3", (char*)NULL);
  }
  return 0;
}
