// The model as the rest of this folder uses it: made, trained, asked and stored. Hides LibTorch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "learn/model_shape.h"
#include "learn/safetensors.h"
#include "learn/samples.h"
#include "teller/result.h"

namespace teller::learn_detail {

// What the model says of one unit.
struct Prediction {
  float abnormal = 0;                      // logit
  std::array<float, kCategories> types{};  // logits, by FaultType - 1
  std::vector<float> pointers;             // logits, one per token of the sample
};

struct TrainingOptions {
  double learning_rate = 2e-3;
  double weight_decay = 1e-2;
  std::int64_t steps = 1000;    // optimiser steps in all: the learning rate falls to 0 over them
  double drop_tokens = 0.3;     // share of tokens that lose their name
  double drop_durations = 0.5;  // share of samples without durations
  double drop_words = 0.3;      // share of samples without log words
};

struct Losses {
  double abnormal = 0, types = 0, pointers = 0;
};

// Same seed, samples, options and number of threads: same weights.
class Network {
 public:
  // Fresh weights from `seed`.
  static Network create(const ModelShape& shape, std::uint64_t seed);
  // Weights from a file: names and shapes must be exactly those of `shape`.
  static Result<Network> load(const ModelShape& shape, const TensorMap& tensors);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  const ModelShape& shape() const;
  TensorMap tensors() const;

  // One prediction per sample, in order. Works in batches of samples of like size.
  std::vector<Prediction> predict(std::span<const Sample* const> samples) const;

  void begin_training(const TrainingOptions& options);
  // One optimiser step. Losses: focal BCE of abnormal (Lin et al., 2017), cross-entropy of types on
  // abnormal steps, BCE of pointers on abnormal steps.
  Losses train(std::span<const Sample* const> batch, std::uint64_t seed);

  // Threads that LibTorch works with, of the whole process.
  static void set_threads(int threads);
  // An Error of `command` for numbers with which LibTorch itself fails or crashes.
  static Status check_threads(const std::string& command, int threads);

 private:
  struct State;
  explicit Network(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace teller::learn_detail
