// Finds the track of a Kineto event from the texts that name its process, thread, device and
// stream.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "importers/kineto_places.h"
#include "run_folder/event_file.h"

namespace teller {

class KinetoTracks {
 public:
  explicit KinetoTracks(EventFileWriter& writer) : writer_(writer) {}

  TrackId host(const KinetoPlace& place);
  // A stream of a device. Device and stream default to pid and tid.
  TrackId device(const KinetoPlace& place);
  // Where a flow's end lies: a stream that was seen under this pid and tid, else a host thread.
  TrackId flow(const KinetoPlace& place);
  // Changes whenever device() and flow() may answer otherwise than before.
  std::uint64_t version() const { return version_; }

 private:
  TrackId new_host(const KinetoPlace& place);
  TrackId new_device(const KinetoPlace& place);
  TrackId remember(const std::string& key, TrackId track);
  const std::string& make_key(char type, const KinetoPlace& place);

  EventFileWriter& writer_;
  std::unordered_map<std::string, TrackId> known_;    // the writer knows them all
  std::unordered_map<std::string, TrackId> streams_;  // pid and tid -> the stream's track
  std::uint64_t version_ = 0;
  std::string key_;
};

}  // namespace teller
