// Wall time, device time and token share of a step are three numbers, and nothing is counted twice:
// random steps with overlapping streams, several devices, graphs and worker processes.
#include <map>
#include <random>
#include <set>

#include "run_builder.h"

namespace teller {
namespace {

constexpr std::int64_t kStep = 1'000;

// A run of an engine (pid 1) and its worker (pid 2); busy[s] holds every ns in which a device works
// for step s.
class Planted {
 public:
  explicit Planted(std::uint64_t seed) : random_(seed) {
    run.source(R"({"dialect":"capture","pid":1,"ppid":0})").thread(1, 1);
    for (std::int64_t step = 0; step < kSteps; ++step) add_engine_step(step);
    run.source(R"({"dialect":"capture","pid":2,"ppid":1})").thread(2, 2);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::int64_t at = step * kStep + 100;
      run.range("worker.execute_model", at, at + 600);
      add_launches(2, step, at + 10);
    }
  }

  static constexpr std::int64_t kSteps = 8;
  RunBuilder run;
  std::map<std::int64_t, std::set<std::int64_t>> busy;
  std::map<std::int64_t, std::map<std::string, std::int64_t>> scheduled;
  std::uint64_t kernels = 0;

 private:
  std::int64_t pick(std::int64_t below) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(below));
  }

  void add_engine_step(std::int64_t step) {
    const std::int64_t at = step * kStep;
    run.step("engine step", at, at + 900);
    std::string requests;
    for (int request = 0; request < 4; ++request) {
      const std::string id = "req-" + std::to_string(request);
      const std::int64_t tokens = pick(5);
      scheduled[step][id] = tokens;
      requests += (request > 0 ? "," : "") + (R"({"id":")" + id) +
                  R"(","phase":"decode","scheduled":)" + std::to_string(tokens) +
                  R"(,"computed":7})";
    }
    run.record(at + 1, R"({"v":1,"engine":"e","step":)" + std::to_string(step) +
                           R"(,"requests":[)" + requests + "]}");
    run.range("executor.execute_model", at + 50, at + 800);
    add_launches(1, step, at + 60);
  }

  void add_launches(std::int64_t pid, std::int64_t step, std::int64_t at) {
    for (int call = 0; call < 5; ++call) {
      const bool graph = pick(2) == 0;
      const std::uint64_t id = ++correlation_;
      run.call(graph ? "cudaGraphLaunch" : "cudaLaunchKernel", at, at + 5, id);
      for (std::int64_t kernel = 0; kernel < (graph ? 4 : 1); ++kernel) {
        add_kernel(pid, step, at + 5 + pick(900), id);
      }
      at += 20;
    }
  }

  void add_kernel(std::int64_t pid, std::int64_t step, std::int64_t begin, std::uint64_t id) {
    const std::int64_t end = begin + 1 + pick(400);
    EventRecord event = run.make(EventKind::kKernel, "k" + std::to_string(++kernels), begin, end);
    event.flags = kFlagHasCorrelation;
    event.correlation = id;
    TrackRecord track;
    track.kind = static_cast<std::uint32_t>(TrackKind::kDeviceStream);
    track.pid = pid;
    track.device = static_cast<std::int32_t>(pick(2));
    track.stream = pick(3);
    event.track = run.track(track);
    run.add(event);
    for (std::int64_t ns = begin; ns < end; ++ns) busy[step].insert(ns);
  }

  std::mt19937_64 random_;
  std::uint64_t correlation_ = 0;
};

TEST(StepNumbers, DeviceTimeIsTheLengthOfTheUnionWhateverOverlaps) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Planted planted(seed);
    const Rebuilt rebuilt(planted.run);
    ASSERT_EQ(rebuilt.chains.step_count(), static_cast<std::size_t>(Planted::kSteps));
    ASSERT_EQ(rebuilt.counter("worker_calls_in_steps"),
              static_cast<std::uint64_t>(Planted::kSteps));
    const auto& steps = rebuilt.chains.steps;
    for (std::size_t step = 0; step < rebuilt.chains.step_count(); ++step) {
      const auto& busy = planted.busy[static_cast<std::int64_t>(step)];
      EXPECT_EQ(steps.device_busy_ns[step], static_cast<std::int64_t>(busy.size()));
      EXPECT_EQ(steps.end_ns[step] - steps.begin_ns[step], 900);
      EXPECT_GE(steps.last_ns[step], *busy.rbegin());
    }
  }
}

TEST(StepNumbers, EveryActivityStandsInOneTree) {
  for (std::uint64_t seed = 11; seed <= 20; ++seed) {
    Planted planted(seed);
    const Rebuilt rebuilt(planted.run);
    std::map<std::string, int> seen;
    for (std::uint32_t node = 0; node < rebuilt.chains.node_count(); ++node) {
      if (rebuilt.chains.layer(node) != Layer::kKernel) continue;
      ++seen[rebuilt.name(node)];
      EXPECT_NE(rebuilt.chains.nodes.step[node], kNoIndex);
    }
    EXPECT_EQ(seen.size(), planted.kernels);
    for (const auto& [name, count] : seen) EXPECT_EQ(count, 1) << name;
    EXPECT_EQ(rebuilt.counter("device_in_steps"), planted.kernels);
  }
}

TEST(StepNumbers, SharesAreThoseOfTheTokensAndAddUp) {
  for (std::uint64_t seed = 21; seed <= 30; ++seed) {
    Planted planted(seed);
    const Rebuilt rebuilt(planted.run);
    const auto& rows = rebuilt.chains.rows;
    std::map<std::uint32_t, double> sums;
    for (std::size_t row = 0; row < rebuilt.chains.row_count(); ++row) {
      const std::string id(rebuilt.chains.string(rebuilt.chains.requests.id[rows.request[row]]));
      const auto& tokens = planted.scheduled[rows.step[row]];
      std::int64_t total = 0;
      for (const auto& [other, count] : tokens) total += count;
      const double expected =
          total == 0 ? 0.0 : static_cast<double>(tokens.at(id)) / static_cast<double>(total);
      EXPECT_DOUBLE_EQ(rows.share[row], expected);
      sums[rows.step[row]] += rows.share[row];
      EXPECT_EQ(rebuilt.chains.steps.tokens[rows.step[row]], total);
    }
    for (const auto& [step, sum] : sums) {
      if (rebuilt.chains.steps.tokens[step] > 0) {
        EXPECT_NEAR(sum, 1.0, 1e-12);
      }
    }
  }
}

}  // namespace
}  // namespace teller
