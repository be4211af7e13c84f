#include "importers/source_layers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "run_folder/event_file.h"

namespace teller {

namespace {

std::uint64_t SourceLayers::*layer_of(const EventRecord& event) {
  switch (static_cast<EventKind>(event.kind)) {
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
      if ((event.flags & kFlagOperator) != 0) return &SourceLayers::operators;
      return (event.flags & kFlagPython) != 0 ? &SourceLayers::python : &SourceLayers::ranges;
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
  if (more.begin_ns) begin_ns = begin_ns ? std::min(*begin_ns, *more.begin_ns) : more.begin_ns;
  if (more.end_ns) end_ns = end_ns ? std::max(*end_ns, *more.end_ns) : more.end_ns;
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

Result<SourceLayers> read_layers(const std::string& path, const std::string& dialect) {
  TELLER_TRY(const EventFile file, EventFile::open(path));
  SourceLayers layers;
  for (const auto block : file.blocks()) {
    for (const EventRecord& event : block) {
      if (const auto layer = layer_of(event)) ++(layers.*layer);
      if (event.begin_ns == kOpenNs) continue;
      layers.begin_ns = std::min(layers.begin_ns.value_or(event.begin_ns), event.begin_ns);
      const std::int64_t end = event.end_ns == kOpenNs ? event.begin_ns : event.end_ns;
      layers.end_ns = std::max(layers.end_ns.value_or(end), end);
    }
  }
  if (dialect == "flight") {  // its entries are ranges of operators
    layers.collectives = std::exchange(layers.operators, 0) + std::exchange(layers.ranges, 0);
  }
  return layers;
}

}  // namespace teller
