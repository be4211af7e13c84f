// Finds the track of a Kineto event from the texts that name its process, thread, device and
// stream.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "run_folder/event_file.h"

namespace teller {

// The texts that place an event, as the source wrote them; "" where it did not.
struct KinetoPlace {
  std::string_view pid;
  std::string_view tid;
  std::string_view device;
  std::string_view stream;
  std::string_view context;
};

class KinetoTracks {
 public:
  explicit KinetoTracks(EventFileWriter& writer) : writer_(writer) {}

  TrackId host(const KinetoPlace& place);
  // A stream of a device. Device and stream default to pid and tid.
  TrackId device(const KinetoPlace& place);
  // Where a flow's end lies: a stream that was seen under this pid and tid, else a host thread.
  TrackId flow(const KinetoPlace& place);

 private:
  TrackId new_host(const KinetoPlace& place);
  TrackId new_device(const KinetoPlace& place);
  const std::string& make_key(char type, const KinetoPlace& place);

  EventFileWriter& writer_;
  std::unordered_map<std::string, TrackId> known_;
  std::unordered_map<std::string, TrackId> streams_;  // pid and tid -> the stream's track
  std::string key_;
  std::string last_key_;
  TrackId last_ = 0;
};

}  // namespace teller
