// Reconstruct on events that nobody would record: it answers, all records are in one bucket, and
// what it wrote can be read.
#include <cstring>

#include "fuzz_file.h"
#include "reconstruct/reconstruct.h"
#include "run_folder/chains.h"
#include "run_folder/event_file.h"
#include "run_folder/run_folder.h"

namespace teller::fuzz {

namespace {

constexpr const char* kStrings[] = {
    "teller",
    "STEP",
    "BE",
    "RECORD",
    "NCCL",
    "fwdbwd",
    "a",
    "ProfilerStep#1",
    "aten::mm, op_id = 1",
    "f request=r1",
    "queue request=cmpl-r1-0-0123abcd",
    "cudaGraphLaunch",
    "ncclDevKernel_AllReduce",
    R"({"v":1,"engine":"e","step":3,"req":[["r1","prefill",1,4,0]],"wait":[["r2",0]]})",
    R"({"v":2,"engine":"e","n":4,"req":[["r1","decode",0,1,4]],"wait":4})",
    R"({"request":{"id":"r1","scheduled_ns":5,"first_token_ns":9,"prompt_tokens":4}})"};
constexpr const char* kMetas[] = {R"({"dialect":"capture","pid":1})", R"({"dialect":"kineto"})",
                                  R"({"dialect":"nsys","clock":{"unix_offset_ns":5}})",
                                  R"({"dialect":"otlp","clock":{"unix_offset_ns":0}})"};

// Times lie close together, so that they meet; now and then one is far off.
std::int64_t near(std::int64_t time) {
  return (time & 15) == 15 ? time : (time >> 4) & 1023;
}

EventRecord event_from(const std::uint8_t* data, const std::vector<StringId>& strings) {
  EventRecord event;
  std::memcpy(static_cast<void*>(&event), data, sizeof event);
  event.kind %= 24;
  event.begin_ns = near(event.begin_ns);
  event.end_ns = (event.end_ns & 31) == 31 ? kOpenNs : near(event.end_ns);
  event.correlation %= 16;
  event.external %= 16;
  for (StringId* id : {&event.name, &event.category, &event.attrs, &event.domain}) {
    *id = strings[*id % strings.size()];
  }
  return event;
}

void write_source(const std::string& path, const std::uint8_t* data, std::size_t size) {
  auto writer = EventFileWriter::create(path, kMetas[data[0] % 4]);
  demand(writer.ok(), "no event file");
  std::vector<StringId> strings{0};
  for (const char* text : kStrings) strings.push_back(writer->intern(text));
  for (std::size_t at = 1; at + sizeof(EventRecord) <= size; at += sizeof(EventRecord)) {
    EventRecord event = event_from(data + at, strings);
    TrackRecord track;
    track.kind = 1 + event.track % 3;
    track.pid = event.track / 3 % 2;
    track.tid = event.track / 6 % 3;
    event.track = writer->track(track);
    demand(writer->add(event).ok(), "an event was not written");
  }
  demand(writer->finish("").ok(), "an event file was not finished");
}

}  // namespace

int fuzz_reconstruct(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string path = folder().file("run");
  std::error_code error;
  std::filesystem::remove_all(path, error);
  auto run = RunFolder::create(path, "fuzz", true);
  demand(run.ok(), "no run");
  std::filesystem::create_directories(run->file("events"));
  const std::size_t half = size / 2;
  write_source(run->file("events/0.tev"), data, half);
  write_source(run->file("events/1.tev"), data + half, size - half);
  demand(run->publish({"events", {"events/0.tev", "events/1.tev"}, "fuzz", 0, {}, "{}"}).ok(),
         "publish");
  const auto summary = reconstruct(*run, {});
  demand(summary.ok(), "sound files were refused");
  demand(Chains::open(run->file("chains.tcol")).ok(), "chains that can't be read");
  return 0;
}

}  // namespace teller::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return teller::fuzz::fuzz_reconstruct(data, size);
}
