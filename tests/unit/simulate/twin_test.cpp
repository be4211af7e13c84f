// What labels promise: a fault of one step that holds no state labels one step; a fault of
// magnitude 0 labels none; an obvious one labels some.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "run_folder/labels.h"
#include "simulate/simulate.h"

namespace teller {
namespace {

class Twin : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = ::testing::TempDir() + "/simulate-XXXXXX";
    ASSERT_NE(mkdtemp(path.data()), nullptr);
    folder_ = path;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Labels labels_of(SimulateOptions options) {
    options.output = folder_ + "/run";
    options.overwrite = true;
    const auto made = simulate_run(options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    const auto run = RunFolder::open(options.output);
    EXPECT_TRUE(run);
    auto labels = open_labels(*run);
    EXPECT_TRUE(labels);
    return labels ? *labels : Labels();
  }

  static std::vector<std::int64_t> steps_in(const Labels& labels, StepState state) {
    std::vector<std::int64_t> numbers;
    for (const StepLabel& label : labels.steps) {
      if (label.state == state && (numbers.empty() || numbers.back() != label.number)) {
        numbers.push_back(label.number);
      }
    }
    return numbers;
  }

  static SimulateOptions options(const MechanismText& mechanism, const std::string& stack,
                                 double magnitude) {
    SimulateOptions out;
    out.stack = stack;
    out.seed = 5;
    out.fault = mechanism.name;
    out.magnitude = magnitude;
    return out;
  }

  std::string folder_;
};

TEST_F(Twin, FaultOfOneStepWithoutStateLabelsThatStepAlone) {
  for (const std::uint64_t seed : {2, 3, 4, 5, 6, 7, 8, 9}) {
    SCOPED_TRACE(seed);
    SimulateOptions options;
    options.seed = seed;
    options.fault = "slow_gemm";
    options.magnitude = 1;
    options.from_step = options.to_step = 60;
    const Labels labels = labels_of(options);
    EXPECT_EQ(steps_in(labels, StepState::kCause), std::vector<std::int64_t>{60});
    EXPECT_TRUE(steps_in(labels, StepState::kWeak).empty());
    EXPECT_TRUE(steps_in(labels, StepState::kAffected).empty());
    EXPECT_TRUE(labels.run.is_fault);
  }
}

// Others take the core of this machine so often that one slow product in one step drowns.
TEST_F(Twin, OnACrowdedMachineOneSlowProductIsWeak) {
  SimulateOptions options;
  options.seed = 1;
  options.fault = "slow_gemm";
  options.magnitude = 1;
  options.from_step = options.to_step = 60;
  const Labels labels = labels_of(options);
  EXPECT_TRUE(steps_in(labels, StepState::kCause).empty());
  EXPECT_EQ(steps_in(labels, StepState::kWeak), std::vector<std::int64_t>{60});
  EXPECT_TRUE(steps_in(labels, StepState::kAffected).empty());
}

TEST_F(Twin, MagnitudeZeroLabelsNone) {
  for (const MechanismText& mechanism : simulate_mechanisms()) {
    for (const std::string& stack : mechanism.stacks) {
      const Labels labels = labels_of(options(mechanism, stack, 0));
      for (const StepLabel& label : labels.steps) {
        ASSERT_EQ(label.state, StepState::kNormal) << mechanism.name << " in " << stack;
      }
      EXPECT_FALSE(labels.run.is_fault);
    }
  }
}

TEST_F(Twin, MagnitudeZeroLabelsNoneInASmallPool) {
  for (const char* fault : {"kv_pinned", "kv_leak", "credit_starvation", "lifo_admission"}) {
    SimulateOptions options;
    options.seed = 4;
    options.fault = fault;
    options.magnitude = 0;
    options.blocks = 100;  // eight requests need some 150
    const auto made = [&] {
      SimulateOptions copy = options;
      copy.output = folder_ + "/count";
      copy.overwrite = true;
      return simulate_run(copy);
    }();
    ASSERT_TRUE(made);
    EXPECT_GT(made->log_lines, 70U) << "no ordinary preemption: the test shows nothing";
    for (const StepLabel& label : labels_of(options).steps) {
      ASSERT_EQ(label.state, StepState::kNormal) << fault;
    }
  }
}

TEST_F(Twin, EveryMechanismIsSeenAtFullMagnitude) {
  for (const MechanismText& mechanism : simulate_mechanisms()) {
    for (const std::string& stack : mechanism.stacks) {
      const Labels labels = labels_of(options(mechanism, stack, 1));
      EXPECT_FALSE(steps_in(labels, StepState::kCause).empty())
          << mechanism.name << " in " << stack;
      EXPECT_EQ(fault_type_name(labels.run.fault_type), mechanism.category);
      for (const StepLabel& label : labels.steps) {
        if (label.state != StepState::kCause) continue;
        EXPECT_FALSE(label.operators.empty()) << mechanism.name << " in " << stack;
        EXPECT_FALSE(label.explanation.empty());
      }
    }
  }
}

TEST_F(Twin, WrongOptionsAreRefused) {
  const auto refused = [this](auto change) {
    SimulateOptions options;
    options.output = folder_ + "/no";
    change(options);
    const auto made = simulate_run(options);
    return !made && made.error().code == ErrorCode::kUsage &&
           !std::filesystem::exists(options.output);
  };
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.stack = "x"; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.fault = "x"; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.fault = "clock_cap"; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.magnitude = 1.5; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.magnitude = std::nan(""); }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.blocks = 3; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) { o.requests = -1; }));
  EXPECT_TRUE(refused([](SimulateOptions& o) {
    o.fault = "kv_leak";
    o.request = "req-99";
  }));
  EXPECT_TRUE(refused([](SimulateOptions& o) {
    o.fault = "kv_leak";
    o.from_step = 9;
    o.to_step = 3;
  }));
}

}  // namespace
}  // namespace teller
