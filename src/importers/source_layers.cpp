#include "importers/source_layers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace teller {

namespace {

std::uint64_t SourceLayers::*layer_of(EventKind kind, bool is_operator, bool is_python) {
  switch (kind) {
    case EventKind::kKernel:
      return &SourceLayers::kernels;
    case EventKind::kMemcpy:
    case EventKind::kMemset:
      return &SourceLayers::copies;
    case EventKind::kApiCall:
      return &SourceLayers::calls;
    case EventKind::kFlowStart:
    case EventKind::kFlowEnd:
      return &SourceLayers::links;
    case EventKind::kRange:
    case EventKind::kRangePush:
    case EventKind::kRangeStart:
      if (is_operator) return &SourceLayers::operators;
      return is_python ? &SourceLayers::python : &SourceLayers::ranges;
    case EventKind::kRangePop:
    case EventKind::kRangeEnd:
      return nullptr;  // its begin was counted
    default:
      return &SourceLayers::other;
  }
}

struct Row {
  const char* key;
  const char* words;
  std::uint64_t SourceLayers::*count;
};
constexpr Row kLayers[] = {{"kernels", "kernels", &SourceLayers::kernels},
                           {"copies", "copies and fills", &SourceLayers::copies},
                           {"calls", "CUDA calls", &SourceLayers::calls},
                           {"operators", "operators", &SourceLayers::operators},
                           {"python", "Python functions", &SourceLayers::python},
                           {"ranges", "ranges and spans", &SourceLayers::ranges},
                           {"collectives", "collectives", &SourceLayers::collectives},
                           {"links", "links", &SourceLayers::links},
                           {"other", "others", &SourceLayers::other}};

}  // namespace

void SourceLayers::add(const SourceLayers& more) {
  for (const Row& layer : kLayers) this->*layer.count += more.*layer.count;
}

nlohmann::ordered_json SourceLayers::to_json() const {
  nlohmann::ordered_json json;
  for (const Row& layer : kLayers) json[layer.key] = this->*layer.count;
  return json;
}

std::string SourceLayers::words() const {
  std::string text;
  for (const Row& layer : kLayers) {
    if (this->*layer.count == 0) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(this->*layer.count) + " " + layer.words;
  }
  return text.empty() ? "no events" : text;
}

std::vector<std::string> SourceLayers::gaps(std::uint64_t requests) const {
  std::vector<std::string> gaps;
  const auto none = [&](bool missing, const char* words) {
    if (missing) gaps.emplace_back(words);
  };
  const bool host = operators + ranges + python > 0;
  if (collectives > 0 && kernels + calls == 0 && !host) {
    return {"nothing but collectives: what the ranks did between them can't be told"};
  }
  none(kernels + copies == 0, "no device work: what the GPU did can't be told");
  none(kernels > 0 && calls == 0, "no CUDA calls: kernels can't be bound to what launched them");
  none(!host, "no operators and no ranges: device work can't be bound to code, nor to steps");
  none(requests == 0, "no requests as spans: requests are only known if ranges name them");
  return gaps;
}

void LayerCounter::sample(std::int64_t begin_ns) {
  until_sample_ = stride_;
  if (begin_ns == kOpenNs) return;
  samples_.push_back(begin_ns);
  if (samples_.size() < kSamples) return;
  // Full: every second one goes.
  for (std::size_t i = 0; i < kSamples / 2; ++i) samples_[i] = samples_[2 * i + 1];
  samples_.resize(kSamples / 2);
  stride_ *= 2;
  until_sample_ = stride_;
}

SourceLayers LayerCounter::layers(bool collectives) const {
  SourceLayers layers;
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    for (std::size_t sort = 0; sort < 4; ++sort) {
      const auto layer = layer_of(static_cast<EventKind>(kind), (sort & 1U) != 0, (sort & 2U) != 0);
      if (layer != nullptr) layers.*layer += counts_[kind][sort];
    }
  }
  if (collectives) {
    layers.collectives = std::exchange(layers.operators, 0) + std::exchange(layers.ranges, 0);
  }
  if (samples_.empty()) return layers;
  std::vector<std::int64_t> times = samples_;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  layers.middle_ns = *middle;
  return layers;
}

}  // namespace teller
