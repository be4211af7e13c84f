// Finds the track of a Kineto event from the texts that name its process, thread, device and
// stream.
#pragma once

#include <array>
#include <cstddef>
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

// Remembers the tracks of a few places, for events come in long rows from the same ones.
class RecentTracks {
 public:
  // Null if `place` is not among the last ones.
  const TrackId* find(const KinetoPlace& place) const;
  void add(const KinetoPlace& place, TrackId track);
  void clear() { used_ = 0; }

 private:
  struct Entry {
    std::array<std::string, 5> place;
    TrackId track = 0;
  };
  static constexpr std::size_t kEntries = 4;
  std::array<Entry, kEntries> entries_;
  std::size_t used_ = 0;
  std::size_t next_ = 0;
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
  TrackId find_host(const KinetoPlace& place);
  TrackId find_device(const KinetoPlace& place);
  TrackId find_flow(const KinetoPlace& place);
  TrackId new_host(const KinetoPlace& place);
  TrackId new_device(const KinetoPlace& place);
  const std::string& make_key(char type, const KinetoPlace& place);

  EventFileWriter& writer_;
  std::unordered_map<std::string, TrackId> known_;
  std::unordered_map<std::string, TrackId> streams_;  // pid and tid -> the stream's track
  RecentTracks hosts_;
  RecentTracks devices_;
  RecentTracks flows_;
  std::string key_;
};

}  // namespace teller
