#include "learn/verdict.h"

#include <algorithm>
#include <cmath>

namespace teller::learn_detail {

namespace {

constexpr double kFarBelow = -20;   // score of a run with too few abnormal steps
constexpr double kAgreement = 0.5;  // share of the support that names a type

// Weight of a pointed token in a unit: how surely the unit is abnormal times how surely the token
// is at fault.
double weight_of(const Prediction& prediction, std::size_t token) {
  return sigmoid(prediction.abnormal) * sigmoid(prediction.pointers[token]);
}

template <typename Visit>
void visit_pointed(const Judged& judged, const RunVerdict& verdict, const Thresholds& thresholds,
                   Visit&& visit) {
  for (const std::size_t place : verdict.agreeing_units) {
    const Sample& sample = *judged.samples[place];
    const Prediction& prediction = *judged.predictions[place];
    for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
      if (prediction.pointers[i] < thresholds.pointer) continue;
      visit(sample, sample.tokens[i], weight_of(prediction, i));
    }
  }
}

}  // namespace

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

std::array<double, kCategories> type_probabilities(const Prediction& prediction) {
  const float largest = *std::max_element(prediction.types.begin(), prediction.types.end());
  std::array<double, kCategories> p{};
  double sum = 0;
  for (std::size_t c = 0; c < p.size(); ++c)
    sum += p[c] = std::exp(double{prediction.types[c]} - largest);
  for (double& x : p) x /= sum;
  return p;
}

FaultType likeliest_type(const Prediction& prediction) {
  const auto best = std::max_element(prediction.types.begin(), prediction.types.end());
  return static_cast<FaultType>(best - prediction.types.begin() + 1);
}

double log_odds(const Prediction& prediction, FaultType type) {
  const double p = sigmoid(prediction.abnormal) *
                   type_probabilities(prediction)[static_cast<std::size_t>(type) - 1];
  const double inside = std::clamp(p, 1e-9, 1 - 1e-9);
  return std::log(inside / (1 - inside));
}

std::size_t needed_units(const Agreement& agreement, std::size_t units) {
  const double share = std::ceil(agreement.share * static_cast<double>(units));
  return static_cast<std::size_t>(std::max<double>(static_cast<double>(agreement.steps), share));
}

RunVerdict judge_run(const Judged& judged, const Thresholds& thresholds) {
  RunVerdict verdict;
  std::array<std::vector<double>, kCategories> logits;
  std::array<std::vector<std::size_t>, kCategories> units;
  for (std::size_t i = 0; i < judged.samples.size(); ++i) {
    const Prediction& prediction = *judged.predictions[i];
    const auto type = static_cast<std::size_t>(likeliest_type(prediction)) - 1;
    logits[type].push_back(prediction.abnormal);
    if (prediction.abnormal < thresholds.step) continue;
    verdict.abnormal_units.push_back(i);
    units[type].push_back(i);
  }
  std::size_t best = 0;
  std::array<double, kCategories> scores{};
  for (std::size_t c = 0; c < scores.size(); ++c) {
    std::sort(logits[c].begin(), logits[c].end(), std::greater<>());
    const std::size_t k = needed_units(thresholds.agreement[c], judged.samples.size());
    scores[c] = logits[c].size() >= k ? logits[c][k - 1] - thresholds.step : kFarBelow;
    verdict.support[c] = static_cast<double>(units[c].size()) / static_cast<double>(k);
    const auto rank = [&](std::size_t type) {
      return std::pair(verdict.support[type], scores[type]);
    };
    if (rank(c) > rank(best)) best = c;
  }
  verdict.type = static_cast<FaultType>(best + 1);
  verdict.agreeing_units = units[best];
  verdict.score = scores[best];
  verdict.abnormal = verdict.score >= 0;
  double sum = 0;
  for (const double s : verdict.support) sum += s;
  verdict.unknown = verdict.abnormal && verdict.support[best] < kAgreement * sum;
  return verdict;
}

std::uint32_t node_of_token(const RunInput& run, std::uint32_t token) {
  return run.tokens.token_nodes.node[run.tokens.tokens.first_node[token]];
}

std::vector<OperatorVerdict> rank_operators(const Judged& judged, const RunVerdict& verdict,
                                            const Thresholds& thresholds) {
  const Chains& chains = judged.run->chains;
  using Key = std::tuple<std::uint8_t, std::uint32_t, std::int32_t, std::uint32_t>;
  struct Entry {
    OperatorVerdict op;
    double best = -1;
    const Sample* last = nullptr;
  };
  std::map<Key, Entry> entries;
  visit_pointed(judged, verdict, thresholds,
                [&](const Sample& sample, std::uint32_t token, double weight) {
                  const std::uint32_t node = node_of_token(*judged.run, token);
                  const std::int32_t rank = judged.run->tokens.tokens.rank[token];
                  Entry& entry = entries[{chains.nodes.layer[node], chains.nodes.family[node], rank,
                                          chains.nodes.request[node]}];
                  entry.op.score += weight;
                  entry.op.rank = rank;
                  if (entry.last != &sample) ++entry.op.units;
                  entry.last = &sample;
                  if (weight > entry.best) {
                    entry.best = weight;
                    entry.op.node = node;
                  }
                });
  std::vector<OperatorVerdict> list;
  for (const auto& [key, entry] : entries) list.push_back(entry.op);
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return list;
}

std::vector<RequestVerdict> rank_requests(const Judged& judged, const RunVerdict& verdict,
                                          const Thresholds& thresholds) {
  std::map<std::uint32_t, double> scores;
  visit_pointed(judged, verdict, thresholds,
                [&](const Sample&, std::uint32_t token, double weight) {
                  const std::uint32_t request =
                      judged.run->chains.nodes.request[node_of_token(*judged.run, token)];
                  if (request != kNoIndex) scores[request] += weight;
                });
  std::vector<RequestVerdict> list;
  for (const auto& [request, score] : scores) list.push_back({request, score});
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.score > b.score; });
  return list;
}

std::vector<std::pair<std::int32_t, double>> rank_ranks(const Judged& judged,
                                                        const RunVerdict& verdict,
                                                        const Thresholds& thresholds) {
  std::map<std::int32_t, double> scores;
  for (const std::int32_t rank : judged.run->tokens.tokens.rank) {
    if (rank >= 0) scores.try_emplace(rank, 0.0);
  }
  if (scores.size() < 2) return {};
  visit_pointed(judged, verdict, thresholds,
                [&](const Sample&, std::uint32_t token, double weight) {
                  const std::int32_t rank = judged.run->tokens.tokens.rank[token];
                  if (rank >= 0) scores[rank] += weight;
                });
  std::vector<std::pair<std::int32_t, double>> list(scores.begin(), scores.end());
  std::erase_if(list, [](const auto& one) { return one.second <= 0; });
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  return list;
}

std::vector<RequestVerdict> named_requests(std::vector<RequestVerdict> ranked,
                                           const Thresholds& thresholds) {
  if (ranked.empty()) return ranked;
  const double least = thresholds.request * ranked.front().score;
  std::erase_if(ranked, [&](const RequestVerdict& one) { return one.score < least; });
  return ranked;
}

}  // namespace teller::learn_detail
