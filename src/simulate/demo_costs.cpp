#include "simulate/demo_costs.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "simulate/demo_data.h"

namespace teller::simulate {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, kDemoOpCount> kNames = {"schedule",
                                                               "prepare inputs",
                                                               "embedding",
                                                               "qkv projection",
                                                               "kv write",
                                                               "attention",
                                                               "output projection",
                                                               "mlp",
                                                               "lm head",
                                                               "sample",
                                                               "update requests",
                                                               "before engine step",
                                                               "before schedule",
                                                               "before prepare inputs",
                                                               "before execute model",
                                                               "before model forward",
                                                               "before embedding",
                                                               "before qkv projection",
                                                               "before kv write",
                                                               "before attention",
                                                               "before output projection",
                                                               "before mlp",
                                                               "before lm head",
                                                               "before sample",
                                                               "before update requests",
                                                               "end of model forward",
                                                               "end of execute model",
                                                               "end of engine step"};
constexpr std::array<const char*, 2> kProfiles = {"quiet", "busy"};

Quantiles read_quantiles(const Json& probabilities, const Json& values) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < probabilities.size() && i < values.size(); ++i) {
    points.emplace_back(probabilities[i].get<double>(), values[i].get<double>());
  }
  return Quantiles(std::move(points));
}

DemoCost read_cost(const Json& fit, const std::string& name) {
  DemoCost cost;
  const Json& json = fit.at("costs").at(name);
  for (std::size_t i = 0; i < 3; ++i) {
    cost.line[0][i] = json.at("decode").at(i).get<double>();
    cost.line[1][i] = json.at("prefill").at(i).get<double>();
  }
  cost.first = json.at("first").get<double>();
  for (std::size_t i = 0; i < kProfiles.size(); ++i) {
    const Json& profile = fit.at("profiles").at(kProfiles[i]);
    cost.residual[i] = read_quantiles(fit.at("probabilities"), profile.at("residuals").at(name));
  }
  return cost;
}

Result<DemoCosts> read_costs() {
  DemoCosts costs;
  // The text is the program's own; the library's exceptions end here.
  try {
    const Json fit = Json::parse(demo_stack_json());
    for (std::size_t op = 0; op < kDemoOpCount; ++op) {
      costs.ops[op] = read_cost(fit, std::string(kNames[op]));
    }
    for (std::size_t i = 0; i < kProfiles.size(); ++i) {
      const Json& profile = fit.at("profiles").at(kProfiles[i]);
      costs.pace[i] = read_quantiles(fit.at("probabilities"), profile.at("pace"));
      costs.pace_correlation[i] = profile.at("pace_correlation").get<double>();
    }
  } catch (const Json::exception& error) {
    return Error{ErrorCode::kCorrupt,
                 std::string("reading the fit of the demo stack: ") + error.what(),
                 "make data/stacks/demo.json anew with scripts/fit_demo_stack.py"};
  }
  return costs;
}

}  // namespace

std::string_view demo_op_name(DemoOp op) {
  return kNames[op];
}

const Result<DemoCosts>& demo_costs() {
  static const Result<DemoCosts> costs = read_costs();
  return costs;
}

}  // namespace teller::simulate
