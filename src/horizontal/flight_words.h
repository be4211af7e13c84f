// What is said of ranks in words. Private to the flight_* files.
#pragma once

#include <string>
#include <vector>

#include "horizontal/flight_blame.h"

namespace teller::flight {

// "ranks 1, 2 and 5 more"; nodes of the job.
std::string nodes_words(const Job& job, const std::vector<std::size_t>& nodes);

// Sentences on each rank; made once, for they are shown in several places.
class RankWords {
 public:
  RankWords(const Job& job, const std::vector<Position>& positions, const WaitGraph& graph);

  // One sentence without its stop: what this rank does, or fails to do.
  const std::string& of(std::size_t node) const { return words_[node]; }

 private:
  std::vector<std::string> words_;
};

// The whole finding, a few sentences.
std::string explanation_words(const Job& job, const RankWords& words, const Blame& blame);

// What to look at next; "" where nothing is to be done.
std::string check_next_words(const Blame& blame);

}  // namespace teller::flight
