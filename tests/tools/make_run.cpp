// make_run RUN < FILE: builds a run folder from the JSON lines that `teller dump RUN events --json`
// prints (and "log" lines as `teller dump RUN logs --json` prints them; "artifact" lines hold a
// JSON document of a later stage), so that golden tests can state their input as text.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"

namespace {

using teller::EventFileWriter;
using teller::EventKind;
using teller::EventRecord;
using teller::Result;
using teller::Status;
using teller::TrackRecord;
using Json = nlohmann::ordered_json;

const std::map<std::string, EventKind> kKinds = {{"range", EventKind::kRange},
                                                 {"push", EventKind::kRangePush},
                                                 {"pop", EventKind::kRangePop},
                                                 {"start", EventKind::kRangeStart},
                                                 {"stop", EventKind::kRangeEnd},
                                                 {"mark", EventKind::kMark},
                                                 {"call", EventKind::kApiCall},
                                                 {"kernel", EventKind::kKernel},
                                                 {"memcpy", EventKind::kMemcpy},
                                                 {"memset", EventKind::kMemset},
                                                 {"sync", EventKind::kSync},
                                                 {"overhead", EventKind::kOverhead},
                                                 {"device_range", EventKind::kDeviceRange},
                                                 {"flow_start", EventKind::kFlowStart},
                                                 {"flow_end", EventKind::kFlowEnd},
                                                 {"counter", EventKind::kCounter},
                                                 {"window", EventKind::kWindow},
                                                 {"step_record", EventKind::kStepRecord},
                                                 {"unknown", EventKind::kUnknown},
                                                 {"memory", EventKind::kMemory},
                                                 {"external_id", EventKind::kExternalId}};

class Builder {
 public:
  explicit Builder(teller::RunFolder run) : run_(std::move(run)) {}

  Status add(const Json& line) {
    const std::string word = line.value("record", "");
    if (word == "source") return start_source(line);
    if (word == "log") return add_log(line);
    if (word == "artifact") return add_artifact(line);
    const auto kind = kKinds.find(word);
    if (kind == kKinds.end()) return fail("unknown record " + word);
    if (!writer_) return fail("an event before its source");
    return add_event(kind->second, line);
  }

  Status finish() {
    TELLER_CHECK_OK(end_source());
    TELLER_CHECK_OK(run_.publish({"events", files_, "make_run", events_, {}, "{}"}));
    if (logs_ > 0) {
      log_file_.close();
      TELLER_CHECK_OK(run_.publish({"logs", {"logs.jsonl"}, "make_run", logs_, {}, "{}"}));
    }
    run_.set_state("sealed");
    return run_.save();
  }

 private:
  static teller::Error fail(const std::string& why) {
    return {teller::ErrorCode::kUsage, "make_run: " + why, ""};
  }

  Status start_source(const Json& line) {
    TELLER_CHECK_OK(end_source());
    files_.push_back(line.value("file", "events/" + std::to_string(files_.size()) + ".tev"));
    auto writer = EventFileWriter::create(run_.file(files_.back()),
                                          line.value("meta", Json::object()).dump());
    if (!writer) return writer.error();
    writer_.emplace(std::move(*writer));
    return {};
  }

  Status end_source() {
    if (!writer_) return {};
    TELLER_CHECK_OK(writer_->finish(""));
    events_ += writer_->events_written();
    writer_.reset();
    return {};
  }

  Status add_log(Json line) {
    if (logs_++ == 0) log_file_.open(run_.file("logs.jsonl"));
    line.erase("record");
    log_file_ << line.dump() << '\n';
    return {};
  }

  // A document that a later stage would write: "name", "content". It is never stale.
  Status add_artifact(const Json& line) {
    const std::string name = line.value("name", ""), path = name + ".json";
    std::ofstream(run_.file(path)) << line.value("content", Json()).dump(1) << '\n';
    return run_.publish({name, {path}, "make_run", 1, {}, "{}"});
  }

  teller::TrackId track_of(const Json& line) {
    TrackRecord track{};
    track.pid = line.value("pid", std::int64_t{0});
    if (line.contains("device")) {
      track.kind = static_cast<std::uint32_t>(teller::TrackKind::kDeviceStream);
      track.device_label = writer_->intern(line.value("device", ""));
      track.stream_label = writer_->intern(line.value("stream", ""));
      track.device = std::atoi(line.value("device", "0").c_str());
      track.stream = std::atoi(line.value("stream", "0").c_str());
      track.context = line.value("context", std::int64_t{-1});
    } else {
      track.kind = static_cast<std::uint32_t>(teller::TrackKind::kHostThread);
      track.tid = line.value("tid", std::int64_t{0});
    }
    track.name = writer_->intern(line.value("thread", ""));
    return writer_->track(track);
  }

  static std::uint16_t flags_of(const Json& line) {
    std::uint16_t flags = 0;
    const auto set = [&](const char* key, teller::EventFlag flag) {
      if (line.contains(key)) flags |= flag;
    };
    set("correlation", teller::kFlagHasCorrelation);
    set("external", teller::kFlagHasExternal);
    set("driver", teller::kFlagDriver);
    set("repaired", teller::kFlagRepaired);
    set("graph", teller::kFlagGraph);
    set("python", teller::kFlagPython);
    set("operator", teller::kFlagOperator);
    set("failed", teller::kFlagFailed);
    return flags;
  }

  Status add_event(EventKind kind, const Json& line) {
    EventRecord event{};
    event.kind = static_cast<std::uint16_t>(kind);
    event.begin_ns = line.value("begin", std::int64_t{0});
    event.end_ns = !line.contains("end")   ? event.begin_ns
                   : line["end"].is_null() ? teller::kOpenNs
                                           : line["end"].get<std::int64_t>();
    event.name = writer_->intern(line.value("name", ""));
    event.category = writer_->intern(line.value("category", ""));
    event.domain = writer_->intern(line.value("domain", ""));
    event.correlation = line.value("correlation", std::uint64_t{0});
    event.external = line.value("external", std::uint64_t{0});
    event.value = line.value("value", std::int64_t{0});
    event.flags = flags_of(line);
    if (line.contains("attrs")) event.attrs = writer_->intern(line["attrs"].dump());
    event.track = track_of(line);
    return writer_->add(event);
  }

  teller::RunFolder run_;
  std::optional<EventFileWriter> writer_;
  std::vector<std::string> files_;
  std::ofstream log_file_;
  std::uint64_t events_ = 0;
  std::uint64_t logs_ = 0;
};

Status build(const std::string& path, std::istream& in) {
  TELLER_TRY(auto run, teller::RunFolder::create(path, "make_run", true));
  std::filesystem::create_directories(path + "/events");
  Builder builder(std::move(run));
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.empty() || text[0] == '#') continue;
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object()) {
      return teller::Error{teller::ErrorCode::kUsage,
                           "make_run: line " + std::to_string(number) + " is not a JSON object",
                           ""};
    }
    TELLER_CHECK_OK(builder.add(line));
  }
  return builder.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_run RUN < LINES\n";
    return 2;
  }
  const Status status = build(argv[1], std::cin);
  if (status) return 0;
  std::cerr << status.error().message << '\n';
  return 1;
}
