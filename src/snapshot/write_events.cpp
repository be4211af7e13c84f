#include "snapshot/write_events.h"

#include <time.h>

#include <nlohmann/json.hpp>

#include "procfs/procfs.h"
#include "run_folder/event_file.h"
#include "snapshot/details.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

// "file.py: function", as names of Python functions are elsewhere.
std::string event_name(const Frame& frame) {
  if (!frame.python) return frame.function;
  return frame.file.substr(frame.file.rfind('/') + 1) + ": " + frame.function;
}

Status add_stack(const Thread& thread, std::int64_t pid, EventFileWriter& writer) {
  TrackRecord track;
  track.kind = static_cast<std::uint32_t>(TrackKind::kHostThread);
  track.pid = pid;
  track.tid = thread.tid;
  track.name = writer.intern(thread.python_name.empty() ? thread.name : thread.python_name);
  const TrackId id = writer.track(track);
  // When a frame was entered is not known: the sample's time, a nanosecond apart to keep the order.
  std::int64_t begin = thread.samples.back().at_ns;
  const Stack& stack = thread.samples.back().stack;
  for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame) {
    EventRecord event;
    event.begin_ns = begin++;
    event.end_ns = kOpenNs;
    event.name = writer.intern(event_name(*frame));
    event.category = writer.intern(frame->python ? "python_stack" : "native_stack");
    event.track = id;
    event.kind = static_cast<std::uint16_t>(EventKind::kRange);
    event.flags = frame->python ? kFlagPython : kFlagOperator;
    Json attrs = {{"file", frame->file}};
    if (frame->line > 0) attrs["line"] = frame->line;
    event.attrs = writer.intern(attrs.dump(-1, ' ', true, Json::error_handler_t::replace));
    TELLER_CHECK_OK(writer.add(event));
  }
  return {};
}

}  // namespace

std::int64_t unix_offset_ns() {
  return clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
}

Result<std::uint64_t> write_events(const Process& process, const std::string& path) {
  Json meta;
  meta["dialect"] = "capture";
  meta["source"] = "snapshot";
  meta["pid"] = process.pid;
  meta["ppid"] = process.ppid;
  meta["clock"] = {{"base", "CLOCK_MONOTONIC"}, {"unix_offset_ns", unix_offset_ns()}};
  meta["argv"] = process.argv;
  const Json rank = rank_json(process);
  for (const char* key : {"rank", "world_size"}) {
    if (!rank[key].is_null()) meta[key] = rank[key];
  }
  TELLER_TRY(
      EventFileWriter writer,
      EventFileWriter::create(path, meta.dump(-1, ' ', false, Json::error_handler_t::replace)));
  for (const auto& [tid, thread] : process.threads) {
    TELLER_CHECK_OK(add_stack(thread, process.pid, writer));
  }
  TELLER_CHECK_OK(writer.finish(""));
  return writer.events_written();
}

}  // namespace teller::snapshot_detail
