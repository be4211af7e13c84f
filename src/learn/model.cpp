#include "learn/model.h"

#include <cmath>

#include "learn/samples.h"

namespace teller::learn_detail {

namespace nn = torch::nn;
using torch::Tensor;

namespace {

constexpr double kMinusInfinity = -1e9;

nn::Sequential two_layers(std::int64_t in, std::int64_t hidden, std::int64_t out) {
  return nn::Sequential(nn::Linear(in, hidden), nn::GELU(), nn::Linear(hidden, out));
}

}  // namespace

ModalityImpl::ModalityImpl(std::int64_t width, std::int64_t widen) {
  before_attention =
      register_module("before_attention", nn::LayerNorm(nn::LayerNormOptions({width})));
  before_feed_forward =
      register_module("before_feed_forward", nn::LayerNorm(nn::LayerNormOptions({width})));
  query_key_value = register_module("query_key_value", nn::Linear(width, 3 * width));
  out = register_module("out", nn::Linear(width, width));
  widen_ = register_module("widen", nn::Linear(width, widen * width));
  narrow = register_module("narrow", nn::Linear(widen * width, width));
}

MixtureBlockImpl::MixtureBlockImpl(const ModelShape& shape) : heads(shape.heads) {
  modalities = register_module("modalities", nn::ModuleList());
  for (int i = 0; i < 3; ++i) modalities->push_back(Modality(shape.width, 2));
}

void MixtureBlockImpl::forward(std::vector<Tensor>& parts, const Tensor& bias) {
  const std::int64_t batch = parts[0].size(0), width = parts[0].size(2);
  std::vector<Tensor> projected;
  std::vector<std::int64_t> lengths;
  for (std::size_t m = 0; m < parts.size(); ++m) {
    auto& own = *modalities[m]->as<ModalityImpl>();
    projected.push_back(own.query_key_value(own.before_attention(parts[m])));
    lengths.push_back(parts[m].size(1));
  }
  // [B, S, 3 d] -> three of [B, heads, S, d / heads]
  const Tensor all = torch::cat(projected, 1);
  const auto split = all.view({batch, -1, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
  Tensor logits = torch::matmul(split[0], split[1].transpose(-2, -1)) /
                  std::sqrt(static_cast<double>(width / heads));
  const Tensor attention = torch::softmax(logits + bias, -1);
  const Tensor mixed =
      torch::matmul(attention, split[2]).transpose(1, 2).reshape({batch, -1, width});
  const std::vector<Tensor> pieces = mixed.split_with_sizes(lengths, 1);
  for (std::size_t m = 0; m < parts.size(); ++m) {
    auto& own = *modalities[m]->as<ModalityImpl>();
    parts[m] = parts[m] + own.out(pieces[m]);
    parts[m] = parts[m] + own.narrow(torch::gelu(own.widen_(own.before_feed_forward(parts[m]))));
  }
}

RootCauseModelImpl::RootCauseModelImpl(const ModelShape& shape) : shape_(shape) {
  const std::int64_t d = shape.width;
  token = register_module("token", nn::Embedding(shape.vocabulary, d));
  depth = register_module("depth", nn::Embedding(static_cast<std::int64_t>(kDeepest) + 1, d));
  word = register_module("word", nn::Embedding(shape.words, d));
  word_place =
      register_module("word_place", nn::Embedding(static_cast<std::int64_t>(kMostWords), d));
  duration = register_module("duration", two_layers(1, d, d));
  if (shape.deviations) {
    deviations = register_module("deviations", two_layers(kFeatureCount, 2 * d, d));
  }
  if (shape.deviations && !shape.paper) {
    deviation_pool = register_module("deviation_pool", two_layers(4 * kFeatureCount, 2 * d, d));
  }
  graph = register_module("graph", nn::ModuleList());
  graph_norms = register_module("graph_norms", nn::ModuleList());
  for (std::int64_t layer = 0; layer < shape.graph_layers; ++layer) {
    graph->push_back(
        nn::Linear(nn::LinearOptions(shape.paper ? d : kRelations * d, d).bias(!shape.paper)));
    if (!shape.paper) graph_norms->push_back(nn::LayerNorm(nn::LayerNormOptions({d})));
  }
  if (!shape.paper) {
    pool_attention = register_module("pool_attention", nn::Linear(d, 1));
    pool_out = register_module("pool_out", nn::Linear(3 * d, d));
  }
  blocks = register_module("blocks", nn::ModuleList());
  for (std::int64_t block = 0; block < shape.blocks; ++block)
    blocks->push_back(MixtureBlock(shape));
  final_norm = register_module("final_norm", nn::LayerNorm(nn::LayerNormOptions({d})));
  abnormal_head = register_module("abnormal_head", two_layers(d, d, 1));
  type_head = register_module("type_head", two_layers(d, d, kCategories));
  pointer_head = register_module("pointer_head", two_layers(2 * d, d, 1));
}

// h^(0) = E_tok + E_depth + MLP(log(1 + lambda Delta)) [+ MLP_z(deviations)]   (paper, section 3.6)
// paper:  H^(l+1) = sigma(A H^(l) W^(l)), one A over all edges
// else:   H^(l+1) = H^(l) + LN(sigma(sum_r A_r H^(l) W_r^(l)))
Tensor RootCauseModelImpl::encode(const Batch& batch) {
  Tensor h =
      token(batch.ids) + depth(batch.depths) + duration->forward(batch.log_durations.unsqueeze(-1));
  if (shape_.deviations) h = h + deviations->forward(batch.features);
  const Tensor mask = batch.token_mask.unsqueeze(-1);
  for (std::int64_t layer = 0; layer < shape_.graph_layers; ++layer) {
    auto& weights = *graph[static_cast<std::size_t>(layer)]->as<nn::Linear>();
    if (shape_.paper) {
      h = torch::relu(weights.forward(torch::matmul(batch.adjacency.select(1, 0), h)));
      continue;
    }
    std::vector<Tensor> gathered;
    for (std::int64_t r = 0; r < kRelations; ++r) {
      gathered.push_back(torch::matmul(batch.adjacency.select(1, r), h));
    }
    auto& norm = *graph_norms[static_cast<std::size_t>(layer)]->as<nn::LayerNorm>();
    h = h + norm.forward(torch::gelu(weights.forward(torch::cat(gathered, -1))));
  }
  return h * mask;
}

// z_j: the mean (paper), or mean, maximum and attention.
Tensor RootCauseModelImpl::pool(const Tensor& h, const Tensor& mask) {
  const Tensor weight = mask.unsqueeze(-1);
  const Tensor mean = (h * weight).sum(1) / weight.sum(1).clamp_min(1.0);
  if (shape_.paper) return mean;
  const Tensor away = (1 - weight) * kMinusInfinity;
  const Tensor largest = std::get<0>((h + away).max(1));
  const Tensor attention = torch::softmax(pool_attention(h) + away, 1);
  return pool_out(torch::cat({mean, largest, (h * attention).sum(1)}, -1));
}

// Maximum, minimum, mean and root mean square of each deviation over the unit, past the graph
// layers: what deviates most must not be lost in sums.
Tensor RootCauseModelImpl::pool_deviations(const Batch& batch) {
  const Tensor weight = batch.token_mask.unsqueeze(-1);
  const Tensor away = (1 - weight) * kMinusInfinity;
  const Tensor count = weight.sum(1).clamp_min(1.0);
  const Tensor largest = std::get<0>((batch.features + away).max(1));
  const Tensor smallest = std::get<0>((batch.features - away).min(1));
  const Tensor mean = (batch.features * weight).sum(1) / count;
  const Tensor square = (batch.features * batch.features * weight).sum(1) / count;
  return deviation_pool->forward(
      torch::cat({largest, smallest, mean, torch::sqrt(square + 1e-6)}, -1));
}

Tensor RootCauseModelImpl::attention_bias(const Batch& batch) const {
  const Tensor summary = torch::ones({batch.token_mask.size(0), 1});
  const Tensor present = torch::cat({batch.word_mask, batch.token_mask, summary}, 1);
  Tensor bias = ((1 - present) * kMinusInfinity).unsqueeze(1).unsqueeze(1);
  if (!shape_.paper) return bias;
  const std::int64_t length = present.size(1);
  const Tensor later = torch::ones({length, length}).triu(1) * kMinusInfinity;
  return bias + later;
}

Outputs RootCauseModelImpl::forward(const Batch& batch) {
  const Tensor h = encode(batch);
  const Tensor places = torch::arange(batch.words.size(1));
  const Tensor log = (word(batch.words) + word_place(places)) * batch.word_mask.unsqueeze(-1);
  Tensor z = pool(h, batch.token_mask);
  if (!deviation_pool.is_empty()) z = z + pool_deviations(batch);
  std::vector<Tensor> parts = {log, h, z.unsqueeze(1)};
  const Tensor bias = attention_bias(batch);
  for (const auto& block : *blocks) block->as<MixtureBlockImpl>()->forward(parts, bias);
  const Tensor summary = final_norm(parts[2].squeeze(1));
  const Tensor tokens = final_norm(parts[1]);
  const Tensor beside = summary.unsqueeze(1).expand_as(tokens);
  Outputs outputs;
  outputs.abnormal = abnormal_head->forward(summary).squeeze(-1);
  outputs.types = type_head->forward(summary);
  outputs.pointers = pointer_head->forward(torch::cat({tokens, beside}, -1)).squeeze(-1);
  return outputs;
}

}  // namespace teller::learn_detail
