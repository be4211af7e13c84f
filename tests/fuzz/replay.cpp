// Runs every fuzz target over the committed corpus in the ordinary build, without libFuzzer or a
// sanitizer: a seed that once broke a reader must not break it again.
//   fuzz_replay CORPUS [TARGET…]    CORPUS holds a folder of seeds for each target
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <vector>

#include "fuzz_file.h"

#define TELLER_FUZZ_TARGET(name) extern "C" int fuzz_input_##name(const std::uint8_t*, std::size_t);
#include "fuzz_targets.inc"
#undef TELLER_FUZZ_TARGET

namespace {

namespace fs = std::filesystem;

struct Target {
  const char* name;
  int (*run)(const std::uint8_t*, std::size_t);
};
#define TELLER_FUZZ_TARGET(name) {#name, fuzz_input_##name},
constexpr Target kTargets[] = {
#include "fuzz_targets.inc"
};
#undef TELLER_FUZZ_TARGET

// One input takes milliseconds: what takes this long hangs.
constexpr unsigned kMostSeconds = 20;
char running[4096];  // for the signal handler

void say_what_ran(int signal) {
  const auto say = [](const char* text) {
    if (write(STDERR_FILENO, text, std::strlen(text)) < 0) _exit(1);
  };
  say(signal == SIGALRM ? "fuzz_replay: hangs at " : "fuzz_replay: ended by ");
  say(running);
  say("\n");
  _exit(1);
}

std::vector<fs::path> seeds_of(const fs::path& folder) {
  std::vector<fs::path> seeds;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) seeds.push_back(entry.path());
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

bool replay(const Target& target, const fs::path& corpus) {
  const std::vector<fs::path> seeds = seeds_of(corpus / target.name);
  if (seeds.empty()) {
    std::fprintf(stderr, "fuzz_replay: no seeds in %s\n", (corpus / target.name).c_str());
    return false;
  }
  for (const fs::path& seed : seeds) {
    std::ifstream file(seed, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::snprintf(running, sizeof running, "%s", seed.c_str());
    alarm(kMostSeconds);
    target.run(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    alarm(0);
  }
  std::printf("%s: %zu seeds\n", target.name, seeds.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: fuzz_replay CORPUS [TARGET…]\n");
    return 2;
  }
  for (const int number : {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(number, say_what_ran);
  }
  bool good = true;
  std::size_t replayed = 0;
  for (const Target& target : kTargets) {
    const bool asked = argc == 2 || std::any_of(argv + 2, argv + argc, [&](const char* name) {
                         return std::strcmp(name, target.name) == 0;
                       });
    if (!asked) continue;
    good = replay(target, argv[1]) && good;
    ++replayed;
  }
  if (argc > 2 && replayed != static_cast<std::size_t>(argc - 2)) {
    std::fprintf(stderr, "fuzz_replay: a target of that name is not there\n");
    return 2;
  }
  return good ? 0 : 1;
}
