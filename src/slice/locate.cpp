#include "slice/locate.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

namespace teller::slice_detail {

nlohmann::ordered_json locator(const Chains& chains, const RunName& run, std::uint32_t node) {
  nlohmann::ordered_json json;
  const std::uint32_t step = chains.nodes.step[node];
  const std::uint32_t track = chains.nodes.track[node];
  json["run"] = run.run;
  json["host"] = run.host.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(run.host);
  const std::int32_t rank = chains.rank(node);
  json["rank"] = rank < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(rank);
  json["pid"] = nullptr;
  if (track < chains.tracks.pid.size()) json["pid"] = chains.tracks.pid[track];
  json["step"] = nullptr;
  if (step != kNoIndex) json["step"] = step;
  json["node"] = node;
  json["layer"] = layer_name(chains.layer(node));
  json["family"] = chains.string(chains.nodes.family[node]);
  json["name"] = chains.string(chains.nodes.name[node]);
  json["start_ns"] = chains.nodes.begin_ns[node];
  return json;
}

double rounded(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", x);
  return std::strtod(text, nullptr);
}

}  // namespace teller::slice_detail
