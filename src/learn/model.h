// The network: graph layers over the tokens of one unit, then a mixture of transformers over log
// words, tokens and a summary, then heads. The only headers that see LibTorch are this one and
// batch.h.
#pragma once

#include <torch/nn.h>
#include <torch/types.h>

#include "learn/model_shape.h"

namespace teller::learn_detail {

// Inputs of B units, padded to N tokens and M words.
struct Batch {
  torch::Tensor ids;            // [B, N] int64
  torch::Tensor depths;         // [B, N] int64
  torch::Tensor log_durations;  // [B, N] float
  torch::Tensor features;       // [B, N, F] float
  torch::Tensor token_mask;     // [B, N] float: 1 for tokens, 0 for padding
  torch::Tensor adjacency;      // [B, R, N, N] float: normalised, per relation
  torch::Tensor words;          // [B, M] int64
  torch::Tensor word_mask;      // [B, M] float
};

struct Outputs {
  torch::Tensor abnormal;  // [B] logit: the step is abnormal
  torch::Tensor types;     // [B, 5] logits of the fault types, given that it is
  torch::Tensor pointers;  // [B, N] logits: the token is an operator at fault
};

// One modality's own weights in a block.
struct ModalityImpl : torch::nn::Module {
  ModalityImpl(std::int64_t width, std::int64_t widen);
  torch::nn::LayerNorm before_attention{nullptr}, before_feed_forward{nullptr};
  torch::nn::Linear query_key_value{nullptr}, out{nullptr}, widen_{nullptr}, narrow{nullptr};
};
TORCH_MODULE(Modality);

// One block of the mixture of transformers (paper, section 3.7): projections, norms and
// feed-forwards of each modality's own, one attention over all.
struct MixtureBlockImpl : torch::nn::Module {
  explicit MixtureBlockImpl(const ModelShape& shape);
  // `parts`: log words, tokens, summary, [B, *, width] each. `bias`: [B, 1, S, S] or [B, 1, 1, S],
  // added to the attention's logits.
  void forward(std::vector<torch::Tensor>& parts, const torch::Tensor& bias);

  std::int64_t heads;
  torch::nn::ModuleList modalities{nullptr};
};
TORCH_MODULE(MixtureBlock);

struct RootCauseModelImpl : torch::nn::Module {
  explicit RootCauseModelImpl(const ModelShape& shape);
  Outputs forward(const Batch& batch);

 private:
  torch::Tensor encode(const Batch& batch);                               // H^(L): [B, N, width]
  torch::Tensor pool(const torch::Tensor& h, const torch::Tensor& mask);  // z: [B, width]
  torch::Tensor pool_deviations(const Batch& batch);                      // [B, width]
  torch::Tensor attention_bias(const Batch& batch) const;

  ModelShape shape_;
  torch::nn::Embedding token{nullptr}, depth{nullptr}, word{nullptr}, word_place{nullptr};
  torch::nn::Sequential duration{nullptr}, deviations{nullptr}, deviation_pool{nullptr};
  torch::nn::ModuleList graph{nullptr}, graph_norms{nullptr}, blocks{nullptr};
  torch::nn::Linear pool_attention{nullptr}, pool_out{nullptr};
  torch::nn::LayerNorm final_norm{nullptr};
  torch::nn::Sequential abnormal_head{nullptr}, type_head{nullptr}, pointer_head{nullptr};
};
TORCH_MODULE(RootCauseModel);

}  // namespace teller::learn_detail
