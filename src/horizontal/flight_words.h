// What is said of ranks in words. Private to the flight_* files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "horizontal/flight_blame.h"

namespace teller::flight {

// "ranks 1, 2 and 5 more"; nodes of the job.
std::string nodes_words(const Job& job, const std::vector<std::size_t>& nodes);

// Sentences on each rank. What is given must outlive it. Sentences are made when they are asked
// for: of a job of a million ranks few are shown.
class RankWords {
 public:
  RankWords(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph);

  // One sentence without its stop: what this rank does, or fails to do.
  std::string of(std::size_t node) const { return write_(node); }

 private:
  std::function<std::string(std::size_t)> write_;
};

// The whole finding, a few sentences.
std::string explanation_words(const Job& job, const RankWords& words, const Blame& blame);

// What to look at next; "" where nothing is to be done.
std::string check_next_words(const Blame& blame);

}  // namespace teller::flight
