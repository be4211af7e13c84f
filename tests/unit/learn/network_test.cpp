#include "learn/network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/batch.h"
#include "samples_maker.h"

namespace teller::learn_detail {
namespace {

using teller::testing::make_sample;

ModelShape small_shape(bool paper = false) {
  ModelShape shape;
  shape.vocabulary = 24;
  shape.words = 6;
  shape.width = 16;
  shape.heads = 2;
  shape.paper = paper;
  return shape;
}

std::vector<Sample> make_set(std::size_t count, std::uint64_t seed) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const bool bad = i % 2 == 0;
    const FaultType type = i % 4 == 0 ? FaultType::kMemory : FaultType::kCudaKernel;
    samples.push_back(make_sample(seed + i, bad ? StepState::kCause : StepState::kNormal,
                                  bad ? type : FaultType::kNone));
  }
  return samples;
}

std::vector<const Sample*> pointers(const std::vector<Sample>& samples) {
  std::vector<const Sample*> list;
  for (const Sample& sample : samples) list.push_back(&sample);
  return list;
}

void train(Network& network, const std::vector<Sample>& samples, int rounds) {
  TrainingOptions options;
  options.steps = rounds;
  options.learning_rate = 5e-3;
  network.begin_training(options);
  for (int i = 0; i < rounds; ++i) network.train(pointers(samples), static_cast<std::uint64_t>(i));
}

// Three tokens: a parent edge between 0 and 1, a temporal one between 1 and 2.
Sample chain_of_three() {
  Sample sample;
  sample.ids = {2, 2, 2};
  sample.depths = {0, 1, 1};
  sample.log_durations = {0, 0, 0};
  sample.features.resize(3);
  sample.edges = {{0, 1, EdgeKind::kParent}, {1, 2, EdgeKind::kTemporal}};
  return sample;
}

void expect_matrix(const torch::Tensor& matrix, const std::vector<std::vector<double>>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    for (std::size_t j = 0; j < wanted.size(); ++j) {
      const auto row = static_cast<std::int64_t>(i), column = static_cast<std::int64_t>(j);
      EXPECT_NEAR(matrix[row][column].item<float>(), wanted[i][j], 1e-6) << i << ' ' << j;
    }
  }
}

TEST(Batch, AdjacencyIsNormalisedByTheDegreesWithTheLoops) {
  const Sample sample = chain_of_three();
  const Sample* const one = &sample;
  const Batch ours = make_batch({&one, 1}, small_shape(), {});
  expect_matrix(ours.adjacency[0][0], {{0.5, 0.5, 0}, {0.5, 0.5, 0}, {0, 0, 1}});
  expect_matrix(ours.adjacency[0][1], {{1, 0, 0}, {0, 0.5, 0.5}, {0, 0.5, 0.5}});
  expect_matrix(ours.adjacency[0][2], {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}});
  const Batch paper = make_batch({&one, 1}, small_shape(true), {});
  ASSERT_EQ(paper.adjacency.size(1), 1);
  const double between = 1 / std::sqrt(6.0);
  expect_matrix(paper.adjacency[0][0],
                {{0.5, between, 0}, {between, 1.0 / 3, between}, {0, between, 0.5}});
}

class BothNetworks : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OursAndPaper, BothNetworks, ::testing::Bool());

TEST_P(BothNetworks, PaddingAndNeighboursInABatchChangeNothing) {
  Network::set_threads(1);
  const Network network = Network::create(small_shape(GetParam()), 3);
  std::vector<Sample> samples = make_set(12, 50);
  samples[3].words = {2, 3, 4};
  samples[3].lines = {0, 0, 0};
  const std::vector<Prediction> together = network.predict(pointers(samples));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample* const one = &samples[i];
    const Prediction alone = network.predict({&one, 1})[0];
    EXPECT_NEAR(alone.abnormal, together[i].abnormal, 1e-4);
    ASSERT_EQ(alone.pointers.size(), samples[i].ids.size());
    for (std::size_t t = 0; t < alone.pointers.size(); ++t) {
      EXPECT_NEAR(alone.pointers[t], together[i].pointers[t], 1e-4);
    }
  }
}

TEST(Network, LearnsWhatDeviatesAndWhere) {
  Network::set_threads(1);
  Network network = Network::create(small_shape(), 1);
  train(network, make_set(128, 1000), 150);
  const std::vector<Sample> fresh = make_set(64, 9000);
  const std::vector<Prediction> said = network.predict(pointers(fresh));
  std::size_t right = 0, types = 0, pointed = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const bool bad = fresh[i].state == StepState::kCause;
    right += (said[i].abnormal > 0) == bad ? 1 : 0;
    if (!bad) continue;
    const auto type =
        std::max_element(said[i].types.begin(), said[i].types.end()) - said[i].types.begin();
    types += type + 1 == static_cast<int>(fresh[i].fault_type) ? 1 : 0;
    const auto token = std::max_element(said[i].pointers.begin(), said[i].pointers.end()) -
                       said[i].pointers.begin();
    pointed += fresh[i].targets[static_cast<std::size_t>(token)];
  }
  EXPECT_GE(right, 60U);
  EXPECT_GE(types, 24U);
  EXPECT_GE(pointed, 29U);
}

TEST(Network, SameSeedSameWeights) {
  Network::set_threads(1);
  const auto weights = [](std::uint64_t seed) {
    Network network = Network::create(small_shape(), seed);
    train(network, make_set(16, 5), 5);
    return network.tensors();
  };
  const TensorMap first = weights(4), second = weights(4), other = weights(5);
  for (const auto& [name, tensor] : first) EXPECT_EQ(tensor.values, second.at(name).values) << name;
  EXPECT_NE(first.at("token.weight").values, other.at("token.weight").values);
}

TEST(Network, RefusesWeightsOfAnotherShape) {
  const Network network = Network::create(small_shape(), 3);
  TensorMap tensors = network.tensors();
  ASSERT_TRUE(Network::load(small_shape(), tensors));
  ModelShape wider = small_shape();
  wider.width = 32;
  EXPECT_FALSE(Network::load(wider, tensors));
  tensors.erase("token.weight");
  EXPECT_FALSE(Network::load(small_shape(), tensors));
}

TEST(Network, IdsBeyondTheVocabularyAreUnknown) {
  const Network network = Network::create(small_shape(), 3);
  Sample sample = make_sample(1, StepState::kNormal, FaultType::kNone);
  sample.ids[0] = 4'000'000'000U;
  sample.words = {4'000'000'000U};
  sample.lines = {0};
  const Sample* const one = &sample;
  EXPECT_TRUE(std::isfinite(network.predict({&one, 1})[0].abnormal));
}

}  // namespace
}  // namespace teller::learn_detail
