#include "run_folder/locator.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace teller {

using Json = nlohmann::ordered_json;

std::string folder_name(const std::string& path) {
  const auto normal = std::filesystem::path(path).lexically_normal();
  return (normal.has_filename() ? normal.filename() : normal.parent_path().filename()).string();
}

std::optional<Layer> layer_of(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(Layer::kCollective); ++i) {
    if (layer_name(static_cast<Layer>(i)) == name) return static_cast<Layer>(i);
  }
  return std::nullopt;
}

RunName run_name(const RunFolder& run) {
  const Json host = run.manifest().value("host", Json::object());
  const Json host_name = host.is_object() ? host.value("name", Json()) : Json();
  return {folder_name(run.path()), host_name.is_string() ? host_name.get<std::string>() : ""};
}

Json locator(const Chains& chains, const RunName& run, std::uint32_t node) {
  Json json;
  const std::int32_t rank = chains.rank(node);
  const std::uint32_t step = chains.nodes.step[node];
  const std::uint32_t track = chains.nodes.track[node];
  json["run"] = run.run;
  const std::string_view own = chains.host_of_source(chains.nodes.source[node]);
  const std::string_view host = own.empty() ? std::string_view(run.host) : own;
  json["host"] = host.empty() ? Json() : Json(host);
  json["rank"] = rank < 0 ? Json() : Json(rank);
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

}  // namespace teller
