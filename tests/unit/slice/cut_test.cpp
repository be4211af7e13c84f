// Slices of made runs: features say who deviates, and the slice keeps it.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "../run_folder/temp_dir.h"
#include "base/file.h"
#include "run_folder/open_chains.h"
#include "run_folder/slices.h"
#include "run_maker.h"
#include "slice/slice.h"

namespace teller {
namespace {

using testing::Defect;
using testing::make_run;
using testing::RunOptions;

class CutTest : public ::testing::Test {
 protected:
  std::string make(const std::string& name, const RunOptions& options) {
    const std::string path = dir_.file(name);
    EXPECT_TRUE(make_run(path, options));
    return path;
  }
  std::string healthy() {
    RunOptions options;
    options.seed = 1000;
    return make("healthy", options);
  }
  SliceResult cut(const std::string& path, const SliceOptions& options) {
    auto run = RunFolder::open(path);
    auto result = slice(*run, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? *result : SliceResult{};
  }
  // Opens what cut() wrote.
  void open(const std::string& path) {
    auto run = RunFolder::open(path);
    auto chains = open_chains(*run);
    ASSERT_TRUE(chains);
    chains_ = std::move(*chains);
    auto slices = open_slices(*run, chains_);
    ASSERT_TRUE(slices) << slices.error().message;
    slices_ = std::move(*slices);
  }
  TempDir dir_;
  Chains chains_;
  Slices slices_;
};

// Share of expected nodes whose feature is at least `least`, per request.
[[maybe_unused]] std::map<std::uint32_t, double> shares(const Chains& chains, const Slices& slices,
                                                        Feature feature, float least) {
  std::map<std::uint32_t, double> high, all;
  for (std::size_t i = 0; i < slices.node_count(); ++i) {
    const std::uint32_t request = chains.nodes.request[slices.nodes.node[i]];
    const NodeFeatures& f = slices.nodes.features[i];
    if (request == kNoIndex || f[kExpected] == 0) continue;
    ++all[request];
    if (f[feature] >= least) ++high[request];
  }
  for (auto& [request, count] : all) count = high[request] / count;
  return all;
}

TEST_F(CutTest, MeasureHealthy) {
  RunOptions options;
  options.seed = 5;
  const std::string path = make("run", options);
  SliceOptions with;
  with.baselines = {healthy()};
  for (const double z : {2.0, 2.5, 3.0, 3.5}) {
    with.suspicion_z = z;
    with.skeleton_levels = 100;
    with.max_nodes = 100000;
    const SliceResult r = cut(path, with);
    std::printf("z %.1f units %zu suspicious %zu nodes %zu of %zu\n", z, r.units,
                r.suspicious_units, r.kept_nodes, r.whole_nodes);
  }
  open(path);
  std::map<int, int> hist, mates, step;
  for (std::size_t i = 0; i < slices_.node_count(); ++i) {
    const NodeFeatures& f = slices_.nodes.features[i];
    ++hist[static_cast<int>(std::lround(f[kZSelf] * 2))];
    ++mates[static_cast<int>(std::lround(f[kZMates] * 2))];
    if (slices_.nodes.parent[i] == kNoIndex) ++step[static_cast<int>(std::lround(f[kZStep] * 2))];
  }
  for (auto [z, n] : hist) std::printf("self %4.1f %d\n", z / 2.0, n);
  for (auto [z, n] : mates) std::printf("mates %4.1f %d\n", z / 2.0, n);
  for (auto [z, n] : step) std::printf("step %4.1f %d\n", z / 2.0, n);
}

}  // namespace
}  // namespace teller
