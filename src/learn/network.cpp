#include "learn/network.h"

#include <torch/optim/adamw.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/batch.h"
#include "learn/model.h"

namespace teller::learn_detail {

using torch::Tensor;

namespace {

constexpr double kFocus = 1.0;            // gamma of the focal loss
constexpr double kPointerWeight = 4.0;    // an operator at fault weighs as many others
constexpr double kLargestGradient = 1.0;  // norm
constexpr int kMostThreads = 1024;
constexpr std::size_t kPredictTokens = 4096;  // padded tokens of one batch, about

PlainTensor to_plain(const Tensor& tensor) {
  const Tensor flat = tensor.detach().to(torch::kFloat32).contiguous();
  PlainTensor plain;
  plain.shape = flat.sizes().vec();
  plain.values.assign(flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel());
  return plain;
}

// Binary cross-entropy that looks less at what is right already (Lin et al., 2017, equation 5).
Tensor focal_loss(const Tensor& logits, const Tensor& targets) {
  const Tensor loss =
      torch::binary_cross_entropy_with_logits(logits, targets, {}, {}, at::Reduction::None);
  return (torch::pow(1 - torch::exp(-loss), kFocus) * loss).mean();
}

// Places of `samples` in batches: like sizes together, none larger than kPredictTokens.
std::vector<std::vector<std::size_t>> batches_of(std::span<const Sample* const> samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return samples[a]->ids.size() < samples[b]->ids.size();
  });
  std::vector<std::vector<std::size_t>> batches;
  for (const std::size_t i : order) {
    const std::size_t padded = std::max<std::size_t>(samples[i]->ids.size(), 1);
    if (batches.empty() || (batches.back().size() + 1) * padded > kPredictTokens)
      batches.emplace_back();
    batches.back().push_back(i);
  }
  return batches;
}

}  // namespace

struct Network::State {
  ModelShape shape;
  RootCauseModel model;
  TrainingOptions options;
  std::unique_ptr<torch::optim::AdamW> optimizer;
  std::int64_t steps_made = 0;

  explicit State(const ModelShape& s) : shape(s), model(s) {}
};

Network::Network(std::unique_ptr<State> state) : state_(std::move(state)) {}
Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

const ModelShape& Network::shape() const {
  return state_->shape;
}

Network Network::create(const ModelShape& shape, std::uint64_t seed) {
  torch::manual_seed(seed);
  return Network(std::make_unique<State>(shape));
}

Result<Network> Network::load(const ModelShape& shape, const TensorMap& tensors) {
  auto state = std::make_unique<State>(shape);
  const torch::NoGradGuard no_gradients;
  const auto parameters = state->model->named_parameters();
  if (parameters.size() != tensors.size()) {
    return Error{ErrorCode::kCorrupt,
                 "loading the model: its weights are " + std::to_string(tensors.size()) +
                     " tensors, its options ask for " + std::to_string(parameters.size()),
                 "copy the bundle again, or train it again"};
  }
  for (const auto& parameter : parameters) {
    const auto found = tensors.find(parameter.key());
    if (found == tensors.end() || found->second.shape != parameter.value().sizes().vec()) {
      return Error{ErrorCode::kCorrupt,
                   "loading the model: weights " + parameter.key() +
                       " are missing, or of another shape than its options ask for",
                   "copy the bundle again, or train it again"};
    }
    const Tensor& target = parameter.value();
    std::copy(found->second.values.begin(), found->second.values.end(), target.data_ptr<float>());
  }
  return Network(std::move(state));
}

TensorMap Network::tensors() const {
  TensorMap tensors;
  for (const auto& parameter : state_->model->named_parameters()) {
    tensors[parameter.key()] = to_plain(parameter.value());
  }
  return tensors;
}

std::vector<Prediction> Network::predict(std::span<const Sample* const> samples) const {
  const torch::InferenceMode inference;
  state_->model->eval();
  std::vector<Prediction> predictions(samples.size());
  for (const std::vector<std::size_t>& places : batches_of(samples)) {
    std::vector<const Sample*> chosen;
    for (const std::size_t i : places) chosen.push_back(samples[i]);
    const Outputs out = state_->model->forward(make_batch(chosen, state_->shape, {}));
    const Tensor pointers = out.pointers.contiguous(), types = out.types.contiguous();
    for (std::size_t row = 0; row < places.size(); ++row) {
      Prediction& one = predictions[places[row]];
      one.abnormal = out.abnormal[static_cast<std::int64_t>(row)].item<float>();
      const float* type = types.data_ptr<float>() + row * kCategories;
      std::copy(type, type + kCategories, one.types.begin());
      const float* pointer =
          pointers.data_ptr<float>() + row * static_cast<std::size_t>(pointers.size(1));
      one.pointers.assign(pointer, pointer + chosen[row]->ids.size());
    }
  }
  return predictions;
}

void Network::begin_training(const TrainingOptions& options) {
  state_->options = options;
  state_->steps_made = 0;
  state_->optimizer = std::make_unique<torch::optim::AdamW>(
      state_->model->parameters(),
      torch::optim::AdamWOptions(options.learning_rate).weight_decay(options.weight_decay));
}

Losses Network::train(std::span<const Sample* const> samples, std::uint64_t seed) {
  State& s = *state_;
  const std::int64_t n = static_cast<std::int64_t>(samples.size());
  s.model->train();
  const Hiding hiding = s.shape.paper ? Hiding{0, 0, 0, seed}
                                      : Hiding{s.options.drop_tokens, s.options.drop_durations,
                                               s.options.drop_words, seed};
  const Batch batch = make_batch(samples, s.shape, hiding);
  const std::int64_t width = batch.ids.size(1);
  Tensor abnormal = torch::zeros({n}), types = torch::zeros({n}, torch::kInt64);
  Tensor pointers = torch::zeros({n, width});
  for (std::int64_t i = 0; i < n; ++i) {
    const Sample& sample = *samples[static_cast<std::size_t>(i)];
    if (sample.state != StepState::kCause) continue;
    abnormal[i] = 1.0F;
    types[i] = static_cast<std::int64_t>(sample.fault_type) - 1;
    float* row = pointers.data_ptr<float>() + i * width;
    std::copy(sample.targets.begin(), sample.targets.end(), row);
  }
  const Outputs out = s.model->forward(batch);
  const Tensor abnormal_loss = focal_loss(out.abnormal, abnormal);
  Tensor type_loss = torch::zeros({}), pointer_loss = torch::zeros({});
  if (abnormal.sum().item<float>() > 0) {
    const Tensor per_step = torch::nn::functional::cross_entropy(
        out.types, types.clamp_min(0),
        torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
    type_loss = (per_step * abnormal).sum() / abnormal.sum();
    const Tensor weight = batch.token_mask * abnormal.unsqueeze(-1);
    const Tensor per_token = torch::binary_cross_entropy_with_logits(
        out.pointers, pointers, {}, torch::full({1}, kPointerWeight), at::Reduction::None);
    pointer_loss = (per_token * weight).sum() / weight.sum();
  }
  // Warm-up over a twentieth, then a cosine to 0.
  const double done = static_cast<double>(s.steps_made) /
                      static_cast<double>(std::max<std::int64_t>(s.options.steps, 1));
  const double rate = s.options.learning_rate * std::min(1.0, done * 20 + 0.05) * 0.5 *
                      (1 + std::cos(std::min(done, 1.0) * 3.14159265358979323846));
  for (auto& group : s.optimizer->param_groups()) {
    static_cast<torch::optim::AdamWOptions&>(group.options()).lr(rate);
  }
  s.optimizer->zero_grad();
  (abnormal_loss + type_loss + pointer_loss).backward();
  torch::nn::utils::clip_grad_norm_(s.model->parameters(), kLargestGradient);
  s.optimizer->step();
  ++s.steps_made;
  return {abnormal_loss.item<double>(), type_loss.item<double>(), pointer_loss.item<double>()};
}

void Network::set_threads(int threads) {
  at::set_num_threads(threads);
}

Status Network::check_threads(const std::string& command, int threads) {
  if (threads < 1 || threads > kMostThreads) {
    return Error{ErrorCode::kUsage,
                 command + ": --threads must be 1 to " + std::to_string(kMostThreads),
                 "see teller " + command + " --help"};
  }
  return {};
}

}  // namespace teller::learn_detail
