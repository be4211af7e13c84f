#include "reconstruct/worker_join.h"

#include <gtest/gtest.h>

#include "run_builder.h"

namespace teller {
namespace {

using Served = std::vector<std::uint32_t>;

TEST(CallsOfWorks, InOrder) {
  EXPECT_EQ(calls_of_works({10, 20, 30}, {12, 22, 32}), (Served{0, 1, 2}));
  EXPECT_EQ(calls_of_works({10, 20, 30}, {12, 22}), (Served{0, 1}));
  EXPECT_EQ(calls_of_works({}, {12}), (Served{kNoIndex}));
  EXPECT_EQ(calls_of_works({10}, {}), Served{});
}

// Two batches are under way: the second call is made before the first work begins.
TEST(CallsOfWorks, CallsThatAreMadeAhead) {
  EXPECT_EQ(calls_of_works({10, 11, 30, 50}, {12, 32, 52, 72}), (Served{0, 1, 2, 3}));
}

// It can't be told from calls that are always made ahead.
TEST(CallsOfWorks, RecordingsThatBeginApartAreNotJoined) {
  EXPECT_EQ(calls_of_works({30, 40}, {12, 22, 32, 42}), (Served(4, kNoIndex)));
  EXPECT_EQ(calls_of_works({10, 20, 30, 40}, {32, 42}), (Served(2, kNoIndex)));
  EXPECT_EQ(calls_of_works({0, 10, 20, 30}, {15, 25, 35}), (Served(3, kNoIndex)));
}

std::string meta(int pid, int parent, int dropped = 0) {
  return R"({"dialect":"capture","pid":)" + std::to_string(pid) + R"(,"ppid":)" +
         std::to_string(parent) + R"(,"counts":{"dropped":)" + std::to_string(dropped) + "}}";
}

// Two steps of an engine (pid 1), and what its worker (pid 2) does.
void add_engine_and_worker(RunBuilder& run, int worker_parent, int dropped) {
  run.source(meta(1, 0)).thread(1, 1);
  for (const std::int64_t begin : {0, 100}) {
    run.step("engine step", begin, begin + 100);
    run.range("executor.execute_model", begin + 10, begin + 90);
  }
  run.source(meta(2, worker_parent, dropped)).thread(2, 2);
  for (const std::int64_t begin : {20, 120}) {
    run.range("worker.execute_model", begin, begin + 60).range("model_forward", begin, begin + 40);
  }
}

TEST(WorkerJoin, WorkHangsUnderTheStepOfItsCall) {
  RunBuilder run;
  add_engine_and_worker(run, 1, 0);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("worker.execute_model"), "engine step");
  EXPECT_EQ(rebuilt.parent("model_forward"), "worker.execute_model");
  EXPECT_EQ(rebuilt.chains.steps.node_count[0], rebuilt.chains.steps.node_count[1]);
  EXPECT_EQ(rebuilt.counter("worker_calls_in_steps"), 2U);
  EXPECT_EQ(rebuilt.counter("worker_calls_unjoined"), 0U);
}

TEST(WorkerJoin, AForkServersChildBelongsToTheOnlyEngine) {
  RunBuilder run;
  add_engine_and_worker(run, 77, 0);
  EXPECT_EQ(Rebuilt(run).counter("worker_calls_in_steps"), 2U);
}

TEST(WorkerJoin, WhereEventsWereLostNothingIsGuessed) {
  RunBuilder run;
  add_engine_and_worker(run, 1, 3);
  const Rebuilt rebuilt(run);
  EXPECT_EQ(rebuilt.parent("worker.execute_model"), "outside pid 2");
  EXPECT_EQ(rebuilt.counter("worker_calls_unjoined"), 2U);
}

TEST(WorkerJoin, AWorkerOfTwoPossibleEnginesIsNotJoined) {
  RunBuilder run;
  add_engine_and_worker(run, 77, 0);
  run.source(meta(3, 0)).thread(3, 3).step("engine step", 0, 100);
  run.range("executor.execute_model", 10, 90);
  EXPECT_EQ(Rebuilt(run).counter("worker_calls_unjoined"), 2U);
}

}  // namespace
}  // namespace teller
