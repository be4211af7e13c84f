// Which launches of a process were in flight when an asynchronous error was reported, or when the
// process ended: those of which no activity has come.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/done_ids.h"
#include "teller/event.h"

namespace teller::capture {

struct Launched {
  std::int64_t begin_ns = 0;  // of the launching call
  std::uint64_t correlation = 0;
  std::uint64_t nested = 0;  // id of the driver call within, 0 = none
  std::uint32_t context = 0;
  bool graph = false;
  std::string name;
};

// A launch that may have been in flight when `call` reported `error`, at `end_ns`.
struct Suspect {
  Launched launch;
  std::int64_t end_ns = 0;
  std::int32_t error = 0;
  std::string call;
};

// Not thread-safe. Memory is bounded: of the oldest ids nothing is in flight.
class InFlight {
 public:
  // An activity with that correlation id has come.
  void done(std::uint64_t correlation) { done_.add(correlation); }
  // Activities with these ids have come.
  void done(const DoneIds& correlations) { done_.add(correlations); }
  // `launch` stands before the call of `thread` that reports an error.
  void report(TrackId thread, Launched launch);
  // The launches before this call that are not known to have ended, by time; they are suspects from
  // now on.
  std::vector<Launched> blame(TrackId thread, std::int64_t end_ns, std::int32_t error,
                              const std::string& call);
  // The suspect that an activity without an end belongs to, which is none any more; nothing for
  // most.
  std::optional<Suspect> take_suspect(std::uint64_t correlation);
  // One of the latest launches of a process that has ended.
  void keep_last(Launched launch);

  // When all activities are in: suspects that none has come of, and launches of which one would
  // long have come by `ended_ns`. In the order of their ids.
  std::vector<Suspect> suspects() const;
  std::vector<Launched> unfinished(std::int64_t ended_ns) const;

 private:
  bool is_done(const Launched& launch) const;

  std::unordered_map<TrackId, std::vector<Launched>> reported_;
  std::map<std::uint64_t, Suspect> suspects_;  // by correlation id
  std::vector<Launched> last_;
  DoneIds done_;
};

}  // namespace teller::capture
