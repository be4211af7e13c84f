// What an import says of itself as JSON.
#include <nlohmann/json.hpp>

#include "importers/importers.h"

namespace teller {

using Json = nlohmann::ordered_json;

Json ImportSummary::to_json() const {
  Json json;
  json["run"] = run;
  json["sources"] = Json::array();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const SourceResult& source = sources[i];
    Json one = {{"file", names[i]},        {"dialect", source.dialect},
                {"events_file", files[i]}, {"bytes", source.bytes},
                {"xxh128", source.digest}, {"counts", source.counts.to_json()},
                {"rank", source.rank},     {"world_size", source.world_size}};
    one["layers"] = source.layers.to_json();
    if (!source.rows.is_null()) one["rows"] = source.rows;
    if (!source.notes.empty()) one["notes"] = source.notes;
    json["sources"].push_back(std::move(one));
  }
  json["skipped"] = Json::array();
  for (const SkippedFile& one : skipped) {
    json["skipped"].push_back({{"file", one.label}, {"why", one.why}});
  }
  json["containers"] = Json::array();
  for (const ContainerCounts& one : containers) {
    json["containers"].push_back({{"name", one.label},
                                  {"kind", one.archive ? "archive" : "folder"},
                                  {"members", one.members},
                                  {"traces", one.traces},
                                  {"logs", one.logs},
                                  {"copies", one.copies},
                                  {"archives", one.archives},
                                  {"others", one.others},
                                  {"folders", one.folders},
                                  {"links", one.links}});
  }
  json["notes"] = notes;
  json["log_lines"] = log_lines;
  json["logs"] = Json::array();
  for (const LogFileSummary& log : logs) json["logs"].push_back(log.to_json());
  json["layers"] = all_layers().to_json();
  json["requests"] = requests();
  json["missing"] = all_layers().gaps(requests());
  return json;
}

SourceLayers ImportSummary::all_layers() const {
  SourceLayers all;
  for (const SourceResult& source : sources) all.add(source.layers);
  return all;
}

std::uint64_t ImportSummary::requests() const {
  std::uint64_t sum = 0;
  for (const SourceResult& source : sources) sum += source.requests;
  return sum;
}

}  // namespace teller
