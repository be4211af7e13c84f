#include "dump/dump_events.h"

#include <ostream>

#include "base/json.h"
#include "dump/print.h"
#include "run_folder/event_file.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

struct FlagName {
  EventFlag flag;
  const char* name;
};
constexpr FlagName kFlagNames[] = {{kFlagDriver, "driver"},     {kFlagRepaired, "repaired"},
                                   {kFlagGraph, "graph"},       {kFlagPython, "python"},
                                   {kFlagOperator, "operator"}, {kFlagFailed, "failed"}};

void add_place(const EventFile& file, const TrackRecord& track, Json* record) {
  if (track.pid != 0) (*record)["pid"] = track.pid;
  if (track.kind == static_cast<std::uint32_t>(TrackKind::kDeviceStream)) {
    (*record)["device"] = file.string(track.device_label);
    (*record)["stream"] = file.string(track.stream_label);
    if (track.context >= 0) (*record)["context"] = track.context;
  } else {
    (*record)["tid"] = track.tid;
  }
  if (track.name != 0) (*record)["thread"] = file.string(track.name);
}

void add_times(const EventRecord& event, Json* record) {
  (*record)["begin"] = event.begin_ns;
  if (event.end_ns == kOpenNs) {
    (*record)["end"] = nullptr;
  } else if (event.end_ns != event.begin_ns) {
    (*record)["end"] = event.end_ns;
  }
}

Json to_json(const EventFile& file, const EventRecord& event) {
  Json record = Json::object();
  add_times(event, &record);
  add_place(file, file.track(event.track), &record);
  if (event.name != 0) record["name"] = file.string(event.name);
  if (event.category != 0) record["category"] = file.string(event.category);
  if (event.domain != 0) record["domain"] = file.string(event.domain);
  if ((event.flags & kFlagHasCorrelation) != 0 || event.correlation != 0) {
    record["correlation"] = event.correlation;
  }
  if ((event.flags & kFlagHasExternal) != 0 || event.external != 0) {
    record["external"] = event.external;
  }
  if (event.value != 0) record["value"] = event.value;
  for (const FlagName& entry : kFlagNames) {
    if ((event.flags & entry.flag) != 0) record[entry.name] = true;
  }
  if (event.attrs != 0) {
    Json attrs = parse_json(file.string(event.attrs));
    record["attrs"] = attrs.is_discarded() ? Json(file.string(event.attrs)) : std::move(attrs);
  }
  return record;
}

std::string_view kind_name(std::uint16_t kind) {
  constexpr std::string_view kNames[] = {
      "none",        "range",        "push",       "pop",        "start",   "stop",
      "mark",        "call",         "kernel",     "memcpy",     "memset",  "sync",
      "overhead",    "device_range", "flow_start", "flow_end",   "counter", "window",
      "step_record", "unknown",      "memory",     "external_id"};
  return kind < std::size(kNames) ? kNames[kind] : "?";
}

void print_damage(const EventFileDamage& damage, bool json, std::ostream& out) {
  if (damage.whole && damage.invalid_records == 0) return;
  print_record("damage",
               {{"reason", damage.reason},
                {"lost_bytes", damage.lost_bytes},
                {"skipped_blocks", damage.skipped_blocks},
                {"invalid_records", damage.invalid_records}},
               json, out);
}

}  // namespace

Status dump_event_file(const std::string& path, const std::string& shown_name,
                       const DumpOptions& options, std::ostream& out) {
  TELLER_TRY(const EventFile file, EventFile::open(path));
  Json meta = parse_json(file.meta_json());
  print_record("source", {{"file", shown_name}, {"events", file.event_count()}, {"meta", meta}},
               options.json, out);
  print_damage(file.damage(), options.json, out);
  std::uint64_t printed = 0;
  for (const auto& block : file.blocks()) {
    for (const EventRecord& event : block) {
      if (options.limit != 0 && printed++ >= options.limit) return {};
      print_record(kind_name(event.kind), to_json(file, event), options.json, out);
    }
  }
  return {};
}

}  // namespace teller
