// Streams that stand still as part of diagnosis.json.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "run_folder/locator.h"
#include "run_folder/open_chains.h"
#include "vertical/stalled_work.h"
#include "vertical/vertical.h"

namespace teller {

using Json = nlohmann::ordered_json;
using vertical_detail::StalledStream;

namespace {

constexpr std::size_t kShownStreams = 8;

std::string name_of(const Chains& chains, std::uint32_t node) {
  return std::string(chains.string(chains.nodes.name[node]));
}

// The innermost range around a node that is neither device work nor a call: what people know.
std::string range_around(const Chains& chains, std::uint32_t node) {
  const auto kernel = static_cast<std::uint8_t>(Layer::kKernel);
  const auto runtime = static_cast<std::uint8_t>(Layer::kRuntime);
  for (std::uint32_t at = chains.nodes.parent[node]; at != kNoIndex; at = chains.nodes.parent[at]) {
    const std::uint8_t layer = chains.nodes.layer[at];
    if (layer != kernel && layer != runtime) return " of " + name_of(chains, at);
  }
  return "";
}

std::string words(const Chains& chains, const StalledStream& stream, std::uint32_t call) {
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", static_cast<double>(stream.still_ns) / 1e9);
  std::string text = std::string(chains.string(chains.tracks.label[stream.track])) +
                     " stands still for " + seconds + ": " + name_of(chains, stream.first) +
                     range_around(chains, stream.first) + " has not ended";
  if (stream.pieces > 1) {
    text += ", and " + std::to_string(stream.pieces - 1) + " more launched behind it, the last " +
            name_of(chains, stream.last) + range_around(chains, stream.last);
  }
  if (call != kNoIndex) text += "; " + name_of(chains, call) + " waits and has not returned";
  return text;
}

Json first_seen(const Chains& chains, std::uint32_t node) {
  const std::uint32_t step = chains.nodes.step[node];
  if (step == kNoIndex) return nullptr;
  const std::int64_t number = chains.steps.number[step];
  return {{"step", step},
          {"number", number >= 0 ? Json(number) : Json()},
          {"start_ns", chains.steps.begin_ns[step]}};
}

}  // namespace

Result<Json> with_stalled_work(const RunFolder& run, Json diagnosis) {
  TELLER_TRY(const Chains chains, open_chains(run));
  const auto streams = vertical_detail::find_stalled_streams(chains);
  diagnosis["stalled_streams"] = Json::array();
  if (streams.empty()) return diagnosis;
  if (!diagnosis["evidence"].is_array()) diagnosis["evidence"] = Json::array();
  std::string text;
  for (const StalledStream& stream : streams) {
    if (diagnosis["stalled_streams"].size() == kShownStreams) break;
    const std::uint32_t call = waiting_call(chains, stream);
    const std::string said = words(chains, stream, call);
    if (text.empty()) text = said;
    diagnosis["stalled_streams"].push_back(
        {{"stream", chains.string(chains.tracks.label[stream.track])},
         {"still_ns", stream.still_ns},
         {"pieces", stream.pieces},
         {"first", locator(chains, run_name(run), stream.first)},
         {"last", locator(chains, run_name(run), stream.last)},
         {"waiting_call", call == kNoIndex ? Json() : locator(chains, run_name(run), call)}});
    diagnosis["evidence"].push_back({{"kind", "stalled_stream"}, {"text", said}});
  }
  const StalledStream& worst = streams.front();
  std::string before = diagnosis.value("explanation", std::string());
  if (diagnosis["abnormal"] != true) {
    // What is only known by its launch has no flag; the kernels of NCCL and RCCL have one prefix.
    const bool collective = (chains.nodes.flags[worst.first] & kNodeCollective) != 0 ||
                            name_of(chains, worst.first).starts_with("nccl");
    diagnosis["abnormal"] = true;
    diagnosis["judged"] = true;
    diagnosis["fault_type"] = collective ? "communication" : "cuda_kernel";
    diagnosis["first_seen"] = first_seen(chains, worst.first);
    before = "The model finds no fault in the steps, but the device does not come to an end.";
  }
  diagnosis["explanation"] = before + " " + text + ".";
  return diagnosis;
}

}  // namespace teller
