// Idle devices as part of diagnosis.json.
#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "run_folder/diagnosis_file.h"
#include "run_folder/locator.h"
#include "run_folder/open_chains.h"
#include "vertical/device_idle.h"
#include "vertical/vertical.h"

namespace teller {

using Json = nlohmann::ordered_json;
using vertical_detail::cause_name;
using vertical_detail::DeviceIdle;
using vertical_detail::IdleCause;
using vertical_detail::IdleShare;

namespace {

constexpr std::size_t kShownShares = 8;
// What starves a device is one kind of work that leaves it idle for a tenth of the time, in at
// least half of the steps.
constexpr double kStarvedShare = 0.1;

struct CauseTotal {
  std::int64_t idle_ns = 0;
  std::uint32_t steps = 0;  // of the share with most
  const IdleShare* largest = nullptr;
};

double part(std::int64_t some, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(some) / static_cast<double>(whole) : 0;
}

Json share_json(const IdleShare& share, const DeviceIdle& idle, const Chains& chains,
                const RunName& name) {
  return {{"cause", cause_name(share.cause)},
          {"share", rounded(part(share.idle_ns, idle.wall_ns))},
          {"steps", share.steps},
          {"node", locator(chains, name, share.node)}};
}

const char* starved_words(IdleCause cause) {
  switch (cause) {
    case IdleCause::kDataLoading:
      return "the data loader does not keep up";
    case IdleCause::kCheckpoint:
      return "it waits for checkpoints";
    case IdleCause::kGarbageCollection:
      return "it waits for garbage collection";
    case IdleCause::kOther:
      break;
  }
  return "the host does not keep up";
}

// The named cause that starves the device; null for none.
Json starved_by(const DeviceIdle& idle, const Chains& chains, std::string* text) {
  std::array<CauseTotal, vertical_detail::kIdleCauses> totals{};
  for (const IdleShare& share : idle.shares) {
    CauseTotal& total = totals[static_cast<std::size_t>(share.cause)];
    total.idle_ns += share.idle_ns;
    total.steps = std::max(total.steps, share.steps);
    if (total.largest == nullptr) total.largest = &share;
  }
  for (std::size_t cause = 0; cause < static_cast<std::size_t>(IdleCause::kOther); ++cause) {
    const CauseTotal& total = totals[cause];
    const double share = part(total.idle_ns, idle.wall_ns);
    if (share < kStarvedShare || total.steps * 2 < idle.steps) continue;
    char numbers[160];
    std::snprintf(
        numbers, sizeof numbers,
        "The device is idle for %.0f %% of the steps' time; for %.0f %% of it the host is in ",
        100 * part(idle.idle_ns, idle.wall_ns), 100 * share);
    *text = numbers + std::string(chains.string(chains.nodes.name[total.largest->node])) + ": " +
            starved_words(total.largest->cause) + ".";
    return cause_name(total.largest->cause);
  }
  return nullptr;
}

}  // namespace

Result<Json> with_device_idle(const RunFolder& run, Json diagnosis) {
  diagnosis["device_idle"] = nullptr;
  TELLER_TRY(const Chains chains, open_chains(run));
  const DeviceIdle idle = vertical_detail::measure_device_idle(chains);
  if (idle.steps == 0) return diagnosis;
  Json by = Json::array();
  for (const IdleShare& share : idle.shares) {
    if (by.size() == kShownShares) break;
    by.push_back(share_json(share, idle, chains, run_name(run)));
  }
  std::string text;
  Json cause = starved_by(idle, chains, &text);
  diagnosis["device_idle"] = {{"share", rounded(part(idle.idle_ns, idle.wall_ns))},
                              {"steps", idle.steps},
                              {"starved_by", std::move(cause)},
                              {"by", std::move(by)}};
  if (!text.empty()) {
    diagnosis["explanation"] = diagnosis.value("explanation", std::string()) + " " + text;
    if (!diagnosis["evidence"].is_array()) diagnosis["evidence"] = Json::array();
    diagnosis["evidence"].push_back({{"kind", "device_idle"}, {"text", text}});
  }
  return diagnosis;
}

Status publish_with_device_idle(RunFolder& run, const Json& diagnosis) {
  const Json::json_pointer options("/artifacts/diagnosis/options");
  return publish_diagnosis(
      run, diagnosis, {"chains", "slices", "tokens"},
      run.manifest().contains(options) ? run.manifest().at(options).dump() : "{}");
}

}  // namespace teller
