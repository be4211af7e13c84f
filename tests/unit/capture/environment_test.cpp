#include "capture/environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace teller::capture {
namespace {

bool holds(const std::vector<std::string>& variables, const std::string& variable) {
  return std::count(variables.begin(), variables.end(), variable) == 1;
}

EnvironmentRequest request() {
  EnvironmentRequest request;
  request.socket = "/tmp/s";
  request.library = "/lib/c.so";
  request.python_hooks = "/hooks";
  request.hook_files = {"/a.json", "/b.json"};
  request.level = "engine";
  return request;
}

TEST(Environment, KeepsWhatTheUserHasSet) {
  const auto made =
      child_environment({"PATH=/bin", "PYTHONPATH=/mine", "LD_PRELOAD=/x.so"}, request());
  EXPECT_TRUE(holds(made.variables, "PATH=/bin"));
  EXPECT_TRUE(holds(made.variables, "PYTHONPATH=/hooks:/mine"));
  EXPECT_TRUE(holds(made.variables, "LD_PRELOAD=/x.so"));
  EXPECT_TRUE(holds(made.variables, "NVTX_INJECTION64_PATH=/lib/c.so"));
  EXPECT_TRUE(holds(made.variables, "TELLER_HOOKS=/a.json:/b.json"));
  EXPECT_TRUE(holds(made.variables, "TELLER_LEVEL=engine"));
  EXPECT_TRUE(made.notes.empty());
}

TEST(Environment, AnotherToolsInjectionStays) {
  const auto made = child_environment({"CUDA_INJECTION64_PATH=/other.so"}, request());
  EXPECT_TRUE(holds(made.variables, "CUDA_INJECTION64_PATH=/other.so"));
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_NE(made.notes[0].find("/other.so"), std::string::npos);
}

TEST(Environment, PreloadComesFirst) {
  EnvironmentRequest asked = request();
  asked.preload = true;
  const auto made = child_environment({"LD_PRELOAD=/x.so"}, asked);
  EXPECT_TRUE(holds(made.variables, "LD_PRELOAD=/lib/c.so:/x.so"));
}

TEST(Environment, RecordsNoSecrets) {
  const auto kept = recorded_variables(
      {"VLLM_API_KEY=1", "VLLM_PORT=2", "HOME=/root", "NCCL_DEBUG=INFO", "TORCH_AUTH_X=3"});
  EXPECT_EQ(kept, (std::vector<std::string>{"NCCL_DEBUG=INFO", "VLLM_PORT=2"}));
}

}  // namespace
}  // namespace teller::capture
