#include "learn/self_test.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCases = 3;
constexpr double kTolerance = 1e-3;

double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11) * 0x1.0p-53;
}

Sample make_case(const ModelShape& shape, std::size_t number) {
  std::mt19937_64 random(1000 + number);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::uint32_t>(random() % static_cast<std::uint64_t>(limit));
  };
  Sample sample;
  const std::size_t tokens = 5 + 7 * number;
  for (std::size_t i = 0; i < tokens; ++i) {
    sample.ids.push_back(below(shape.vocabulary));
    sample.depths.push_back(static_cast<std::uint8_t>(below(6)));
    sample.log_durations.push_back(static_cast<float>(8 * uniform(random)));
    NodeFeatures features{};
    for (float& x : features) x = static_cast<float>(4 * uniform(random) - 2);
    sample.features.push_back(features);
    if (i > 0) {
      const auto kind = static_cast<EdgeKind>(1 + below(kRelations));
      sample.edges.push_back({static_cast<std::uint16_t>(below(static_cast<std::int64_t>(i))),
                              static_cast<std::uint16_t>(i), kind});
    }
  }
  for (std::size_t i = 0; i < 4 * number; ++i) {
    sample.words.push_back(below(shape.words));
    sample.lines.push_back(0);
  }
  return sample;
}

std::vector<double> answers(const Network& network, std::size_t number) {
  const Sample sample = make_case(network.shape(), number);
  const Sample* const one = &sample;
  const std::vector<Prediction> said = network.predict({&one, 1});
  std::vector<double> values = {said[0].abnormal, said[0].pointers.front(),
                                said[0].pointers.back()};
  values.insert(values.end(), said[0].types.begin(), said[0].types.end());
  return values;
}

}  // namespace

Json make_self_test(const Network& network) {
  Json cases = Json::array();
  for (std::size_t i = 0; i < kCases; ++i) cases.push_back(answers(network, i));
  return {{"tolerance", kTolerance}, {"answers", cases}};
}

std::string run_self_test(const Network& network, const Json& stored) {
  const Json list = stored.is_object() ? stored.value("answers", Json()) : Json();
  if (!list.is_array() || list.size() != kCases) return "it has no self-test";
  for (std::size_t i = 0; i < kCases; ++i) {
    const std::vector<double> values = answers(network, i);
    if (!list[i].is_array() || list[i].size() != values.size()) return "its self-test is damaged";
    for (std::size_t j = 0; j < values.size(); ++j) {
      if (!list[i][j].is_number()) return "its self-test is damaged";
      const double wanted = list[i][j].get<double>();
      if (!(std::abs(wanted - values[j]) <= kTolerance * (1 + std::abs(wanted)))) {
        return "it does not answer its self-test as it did when it was made: its weights or "
               "options "
               "have changed";
      }
    }
  }
  return "";
}

}  // namespace teller::learn_detail
