#include "context/context.h"

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "context/cgroup.h"
#include "context/gpu.h"
#include "context/host.h"
#include "context/http_get.h"
#include "context/scraper.h"

namespace teller {

namespace {

constexpr std::chrono::seconds kPeriod(1);
constexpr std::chrono::seconds kPatience(2);
// Records that nobody takes: the recorder takes them every 10 ms.
constexpr std::size_t kMaxPending = 8 << 20;
constexpr std::size_t kMaxCgroups = 16;

std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

// Shared with the threads, so that one that hangs in a driver can be left behind.
struct Context::State {
  ContextOptions options;
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  int running = 0;
  std::vector<ContextProcess> processes;
  std::string pending;
  ContextCounts counts;
  std::mutex sampling;              // of processes; then `places`
  std::vector<CgroupPlace> places;  // also of processes that are gone

  void put(std::int64_t time_ns, const ContextRecord& record);
  void sample_processes();
  void sample_processes_alone();  // the holder of `sampling`
  template <typename Body>
  static void start(const std::shared_ptr<State>& state, Body body);
  // Runs `sample` each second until the end.
  template <typename Sample>
  void run(Sample&& sample);
  std::vector<ContextProcess> processes_now() {
    const std::lock_guard lock(mutex);
    return processes;
  }
};

void Context::State::put(std::int64_t time_ns, const ContextRecord& record) {
  ContextRecord line = {{"t", time_ns}};
  line.update(record);
  const std::string text =
      line.dump(-1, ' ', false, ContextRecord::error_handler_t::replace) + "\n";
  const std::lock_guard lock(mutex);
  if (pending.size() + text.size() > kMaxPending) {
    ++counts.records_lost;
    return;
  }
  pending += text;
  ++counts.records;
}

void Context::State::sample_processes() {
  const std::lock_guard alone(sampling);
  sample_processes_alone();
}

void Context::State::sample_processes_alone() {
  for (const ContextProcess& process : processes_now()) {
    const std::int64_t time = now_ns();
    if (auto record = sample_process(options.root, process.pid)) put(time, *record);
    const auto place = cgroup_of(options.root, process.pid);
    if (place && places.size() < kMaxCgroups &&
        std::find(places.begin(), places.end(), *place) == places.end()) {
      places.push_back(*place);
    }
  }
  const std::int64_t time = now_ns();
  put(time, sample_host(options.root));
  for (const CgroupPlace& place : places) put(time, sample_cgroup(options.root, place));
}

template <typename Sample>
void Context::State::run(Sample&& sample) {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex);
  while (!stop) {
    lock.unlock();
    sample();
    lock.lock();
    // A sample that took long leaves out the seconds that it took.
    const auto now = std::chrono::steady_clock::now();
    while (next <= now) next += kPeriod;
    changed.wait_until(lock, next, [this] { return stop; });
  }
}

// A thread that cannot be had costs its samples, not the recorder.
template <typename Body>
void Context::State::start(const std::shared_ptr<State>& state, Body body) {
  const auto end = [](State& ended, bool failed) {
    const std::lock_guard lock(ended.mutex);
    --ended.running;
    if (failed) ++ended.counts.threads_failed;
    ended.changed.notify_all();
  };
  {
    const std::lock_guard lock(state->mutex);
    ++state->running;
  }
  try {
    std::thread([state, body, end] {
      try {
        body(*state);
        end(*state, false);
      } catch (...) {
        end(*state, true);
      }
    }).detach();
  } catch (...) {
    end(*state, true);
  }
}

Status check_context(const ContextOptions& options) {
  for (const std::string& url : options.urls) {
    if (auto parsed = parse_http_url(url); !parsed) return parsed.error();
  }
  return {};
}

Context::Context(ContextOptions options) : state_(std::make_shared<State>()) {
  state_->options = std::move(options);
  // Signals are for the recorder's own thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  State::start(state_, [](State& state) {
    {
      std::unique_lock lock(state.mutex);
      state.changed.wait(lock, [&] { return state.stop || !state.processes.empty(); });
    }
    state.run([&state] { state.sample_processes(); });
  });
  State::start(state_, [](State& state) {
    std::optional<Gpus> gpus;
    gpus.emplace();
    state.run([&] {
      if (!gpus->any()) return;
      const std::int64_t time = now_ns();
      for (const ContextRecord& record : gpus->sample()) state.put(time, record);
    });
  });
  State::start(state_, [](State& state) {
    Scraper scraper(state.options);
    ContextCounts counts;
    state.run([&] {
      for (const ContextRecord& record : scraper.sample(state.processes_now(), counts)) {
        state.put(now_ns(), record);
      }
      const std::lock_guard lock(state.mutex);
      state.counts.scrapes = counts.scrapes;
      state.counts.scrapes_failed = counts.scrapes_failed;
    });
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Context::set_processes(std::vector<ContextProcess> processes) {
  const std::lock_guard lock(state_->mutex);
  const bool first = state_->processes.empty();
  state_->processes = std::move(processes);
  if (first) state_->changed.notify_all();
}

std::string Context::take_lines() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->pending, {});
}

ContextCounts Context::counts() const {
  const std::lock_guard lock(state_->mutex);
  return state_->counts;
}

void Context::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stop = true;
  state_->changed.notify_all();
}

void Context::finish() {
  std::unique_lock lock(state_->mutex);
  if (state_->stop) return;
  state_->stop = true;
  state_->changed.notify_all();
  state_->changed.wait_for(lock, kPatience, [this] { return state_->running == 0; });
  lock.unlock();
  // A sample that is still running hangs in a file of /proc: so would the last one.
  const std::unique_lock alone(state_->sampling, std::try_to_lock);
  if (alone.owns_lock()) state_->sample_processes_alone();
}

Context::~Context() {
  finish();
}

}  // namespace teller
