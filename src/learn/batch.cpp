#include "learn/batch.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace teller::learn_detail {

namespace {

class Hider {
 public:
  explicit Hider(const Hiding& hiding) : hiding_(hiding), random_(hiding.seed) {}
  bool token() { return draw(hiding_.tokens); }
  bool durations() { return draw(hiding_.durations); }
  bool words() { return draw(hiding_.words); }

 private:
  bool draw(double share) {
    return share > 0 && static_cast<double>(random_() >> 11) * 0x1.0p-53 < share;
  }
  const Hiding& hiding_;
  std::mt19937_64 random_;
};

// D^-1/2 (A + I) D^-1/2 of the undirected edges for which `wanted` holds, into an N x N matrix.
template <typename Wanted>
void add_adjacency(const Sample& sample, std::int64_t n, Wanted wanted, float* matrix) {
  const auto count = static_cast<std::int64_t>(sample.ids.size());
  std::vector<float> degree(static_cast<std::size_t>(n), 0.0F);
  for (std::int64_t i = 0; i < count; ++i) matrix[i * n + i] = 1.0F;
  for (const SampleEdge& edge : sample.edges) {
    if (!wanted(edge.kind)) continue;
    matrix[edge.from * n + edge.to] = 1.0F;
    matrix[edge.to * n + edge.from] = 1.0F;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j)
      degree[static_cast<std::size_t>(i)] += matrix[i * n + j];
  }
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      float& value = matrix[i * n + j];
      if (value != 0) {
        value /=
            std::sqrt(degree[static_cast<std::size_t>(i)] * degree[static_cast<std::size_t>(j)]);
      }
    }
  }
}

void add_graph(const Sample& sample, std::int64_t n, bool paper, float* matrices) {
  if (paper)
    return add_adjacency(
        sample, n, [](EdgeKind) { return true; }, matrices);
  for (std::int64_t r = 0; r < kRelations; ++r) {
    const auto kind = static_cast<EdgeKind>(r + 1);
    add_adjacency(
        sample, n, [kind](EdgeKind one) { return one == kind; }, matrices + r * n * n);
  }
}

// Pointers into the tensors of one sample of the batch.
struct Row {
  std::int64_t *ids, *depths, *words;
  float *durations, *features, *token_mask, *word_mask;
};

void add_tokens(const Sample& sample, const ModelShape& shape, Hider& hider, const Row& row) {
  const bool without_durations = hider.durations();
  for (std::size_t i = 0; i < sample.ids.size(); ++i) {
    const bool known = sample.ids[i] < shape.vocabulary && !hider.token();
    row.ids[i] = known ? sample.ids[i] : kUnknownToken;
    row.depths[i] = sample.depths[i];
    row.durations[i] = without_durations ? 0 : sample.log_durations[i];
    std::copy(sample.features[i].begin(), sample.features[i].end(),
              row.features + i * kFeatureCount);
    row.token_mask[i] = 1;
  }
}

void add_words(const Sample& sample, const ModelShape& shape, Hider& hider, const Row& row) {
  if (hider.words()) return;
  for (std::size_t i = 0; i < sample.words.size(); ++i) {
    row.words[i] = sample.words[i] < shape.words ? sample.words[i] : WordTable::kUnknown;
    row.word_mask[i] = 1;
  }
}

}  // namespace

Batch make_batch(std::span<const Sample* const> samples, const ModelShape& shape,
                 const Hiding& hiding) {
  const auto count = static_cast<std::int64_t>(samples.size());
  std::size_t n = 1, m = 1;
  for (const Sample* sample : samples) {
    n = std::max(n, sample->ids.size());
    m = std::max(m, sample->words.size());
  }
  const auto tokens = static_cast<std::int64_t>(n), words = static_cast<std::int64_t>(m);
  const std::int64_t relations = shape.paper ? 1 : kRelations;
  Batch b;
  b.ids = torch::zeros({count, tokens}, torch::kInt64);
  b.depths = torch::zeros({count, tokens}, torch::kInt64);
  b.log_durations = torch::zeros({count, tokens});
  b.features = torch::zeros({count, tokens, static_cast<std::int64_t>(kFeatureCount)});
  b.token_mask = torch::zeros({count, tokens});
  b.adjacency = torch::zeros({count, relations, tokens, tokens});
  b.words = torch::zeros({count, words}, torch::kInt64);
  b.word_mask = torch::zeros({count, words});
  Hider hider(hiding);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Row row{b.ids.data_ptr<std::int64_t>() + i * n,
                  b.depths.data_ptr<std::int64_t>() + i * n,
                  b.words.data_ptr<std::int64_t>() + i * m,
                  b.log_durations.data_ptr<float>() + i * n,
                  b.features.data_ptr<float>() + i * n * kFeatureCount,
                  b.token_mask.data_ptr<float>() + i * n,
                  b.word_mask.data_ptr<float>() + i * m};
    add_tokens(*samples[i], shape, hider, row);
    add_words(*samples[i], shape, hider, row);
    add_graph(*samples[i], tokens, shape.paper,
              b.adjacency.data_ptr<float>() + i * static_cast<std::size_t>(relations) * n * n);
  }
  return b;
}

}  // namespace teller::learn_detail
