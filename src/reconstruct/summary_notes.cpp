// What a reader must know before trusting the figures of a reconstruction.
#include <algorithm>
#include <cstdio>
#include <map>

#include "base/json.h"
#include "reconstruct/summary_parts.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// So many streams and waiting calls are named.
constexpr std::size_t kMostNamed = 64;

std::string time_text(std::int64_t ns) {
  const double time = static_cast<double>(ns);
  char text[40];
  if (ns < 1'000'000'000) {
    std::snprintf(text, sizeof text, "%.3f ms", time / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.1f s", time / 1e9);
  }
  return text;
}

// A thread for people: its name, and its number where it has none.
std::string thread_text(const ChainsBuilder& chains, std::uint32_t track) {
  if (track == kNoIndex) return "an unknown thread";
  const std::string_view label = chains.strings.view(chains.tracks.label[track]);
  const std::string number = "thread " + std::to_string(chains.tracks.tid[track]);
  return label.empty() ? number : std::string(label);
}

// The innermost range around a node; "" where there is none.
std::string_view range_around(const ChainsBuilder& chains, std::uint32_t node) {
  const auto& nodes = chains.nodes;
  for (std::uint32_t at = nodes.parent[node]; at != kNoIndex; at = nodes.parent[at]) {
    const bool made = (nodes.flags[at] & kNodeSynthetic) != 0;
    if (nodes.layer[at] <= static_cast<std::uint8_t>(Layer::kBackEnd) && !made) {
      return chains.strings.view(nodes.name[at]);
    }
  }
  return "";
}

Json place_json(const ChainsBuilder& chains, std::uint32_t node) {
  const auto& nodes = chains.nodes;
  Json json;
  json["node"] = node;
  json["name"] = chains.strings.view(nodes.name[node]);
  json["in_range"] = range_around(chains, node);
  json["step"] = nodes.step[node] == kNoIndex ? Json() : Json(nodes.step[node]);
  json["begin_ns"] = nodes.begin_ns[node];
  json["open_ns"] = nodes.end_ns[node] - nodes.begin_ns[node];
  return json;
}

// The first and the last launch of one stream.
struct Stream {
  std::uint64_t count = 0;
  std::uint32_t first = kNoIndex;
  std::uint32_t last = kNoIndex;
};

void note_missing(const Workspace& work, Json& notes) {
  const ReconstructCounters& counters = work.counters;
  const auto& chains = work.chains;
  if (counters.device_activities == 0) {
    std::string text = "no kernel or copy of a device was recorded: nothing is known of its time";
    if (counters.launches > 0) {
      text += ", though " + std::to_string(counters.launches) + " launches were";
    }
    notes.push_back(text);
  } else if (counters.calls == 0) {
    notes.push_back(
        "no runtime call was recorded: kernels hang under no operator and belong to no step");
  }
  if (chains.steps.root.empty()) {
    notes.push_back(
        "no step was found: everything stands outside; steps come from the hooks' "
        "STEP ranges or from engine annotations");
  } else if (chains.rows.step.empty()) {
    notes.push_back(
        "no step says which requests it served: rows come from step records, which the hooks "
        "write");
  }
  if (chains.requests.id.empty()) {
    notes.push_back("no request is known: nothing can be said about single requests");
  }
  if (chains.logs.text.empty()) notes.push_back("no log line was recorded");
}

void note_losses(const Workspace& work, const Json& report, Json& notes) {
  for (const Source& source : work.sources) {
    const EventFileDamage& damage = source.file.damage();
    if (damage.whole) continue;
    notes.push_back(source.name + " is not whole, what was lost is in no chain: " + damage.reason);
  }
  for (const Json& source : report["sources"]) {
    if (!source.contains("losses")) continue;
    std::uint64_t dropped = 0;
    for (const auto& [name, count] : source["losses"].items()) {
      const bool drop = name.find("dropped") != std::string::npos && count.is_number_unsigned();
      dropped += drop ? count.get<std::uint64_t>() : 0;
    }
    if (dropped == 0) continue;
    notes.push_back(source["source"].get<std::string>() + " lost " + std::to_string(dropped) +
                    " records while it was recorded: what is missing there says nothing");
  }
}

void note_unbound(const Workspace& work, Json& notes) {
  const ReconstructCounters& counters = work.counters;
  if (counters.before_window > 0) {
    notes.push_back(std::to_string(counters.before_window) +
                    " device activities were launched before the capture began: their calls are "
                    "not in it");
  }
  if (counters.without_call > 0 && counters.calls > 0) {
    notes.push_back(std::to_string(counters.without_call) +
                    " device activities have no call, and the begin of the capture does not "
                    "explain it: calls were lost, or ids are not those of calls");
  }
  if (counters.launches_without_activity > 0) {
    notes.push_back(std::to_string(counters.launches_without_activity) +
                    " launches have no kernel though their work had ended: records were lost");
  }
  if (counters.clocks_unknown > 0 && work.sources.size() > 1) {
    notes.push_back(std::to_string(counters.clocks_unknown) +
                    " sources do not say how their clock relates to Unix time: they are taken to "
                    "share the run's");
  }
}

std::string place_text(const Json& place) {
  const std::string range = place["in_range"].get<std::string>();
  return place["name"].get<std::string>() + (range.empty() ? "" : " of " + range);
}

void note_in_flight(const Json& report, Json& notes) {
  const auto open = report.find("in_flight");
  if (open == report.end()) return;
  for (const Json& stream : (*open)["streams"]) {
    notes.push_back(stream["launches"].dump() + " launches on " +
                    stream["stream"].get<std::string>() + " (process " + stream["pid"].dump() +
                    ") never came to an end; first " + place_text(stream["first"]) + ", last " +
                    place_text(stream["last"]));
  }
  for (const Json& call : (*open)["waiting_calls"]) {
    notes.push_back(place_text(call) + " on " + call["thread"].get<std::string>() +
                    " had not returned when the capture ended, " +
                    time_text(call["open_ns"].get<std::int64_t>()) + " after it began");
  }
}

}  // namespace

nlohmann::ordered_json losses_json(std::string_view meta_text) {
  Json losses = Json::object();
  const Json meta = parse_json(meta_text);
  const auto counts = meta.find("counts");
  if (counts == meta.end() || !counts->is_object()) return losses;
  for (const char* key :
       {"dropped", "device_dropped", "cuda_buffers_refused", "device_unknown", "device_malformed",
        "malformed", "unknown", "duplicates", "clipped", "repaired", "truncated"}) {
    const auto value = counts->find(key);
    if (value == counts->end()) continue;
    const bool some = value->is_number()    ? *value != 0
                      : value->is_boolean() ? value->get<bool>()
                                            : value->is_object() && !value->empty();
    if (some) losses[key] = *value;
  }
  return losses;
}

nlohmann::ordered_json in_flight_json(const ChainsBuilder& chains) {
  const auto& nodes = chains.nodes;
  std::map<std::uint32_t, Stream> streams;  // by track
  Json waiting = Json::array();
  for (std::uint32_t node = 0; node < nodes.parent.size(); ++node) {
    if ((nodes.flags[node] & kNodeOpen) == 0) continue;
    const auto layer = static_cast<Layer>(nodes.layer[node]);
    if (layer == Layer::kRuntime && waiting.size() < kMostNamed) {
      Json& call = waiting.emplace_back(place_json(chains, node));
      call["thread"] = thread_text(chains, nodes.track[node]);
    }
    if (layer != Layer::kKernel) continue;
    Stream& stream = streams[nodes.track[node]];
    ++stream.count;
    const auto earlier = [&](std::uint32_t other) {
      return other == kNoIndex || nodes.begin_ns[node] < nodes.begin_ns[other];
    };
    if (earlier(stream.first)) stream.first = node;
    if (stream.last == kNoIndex || !earlier(stream.last)) stream.last = node;
  }
  if (streams.empty() && waiting.empty()) return Json::object();
  Json list = Json::array();
  for (const auto& [track, stream] : streams) {
    if (list.size() == kMostNamed) break;
    list.push_back({{"source", chains.tracks.source[track]},
                    {"pid", chains.tracks.pid[track]},
                    {"stream", chains.strings.view(chains.tracks.label[track])},
                    {"launches", stream.count},
                    {"first", place_json(chains, stream.first)},
                    {"last", place_json(chains, stream.last)}});
  }
  return {{"streams", list}, {"waiting_calls", waiting}};
}

nlohmann::ordered_json notes_json(const Workspace& work, const Json& report) {
  Json notes = Json::array();
  note_in_flight(report, notes);
  note_missing(work, notes);
  note_losses(work, report, notes);
  note_unbound(work, notes);
  return notes;
}

}  // namespace teller
