// Groups that a dump names without listing their ranks: another dump may list them.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "horizontal/flight_job.h"

namespace teller::flight {

namespace {

// Of a name: the ranks whose dumps do not list the group's, and for each the list of other dumps
// that has it; null where there is none, or several.
struct Asked {
  std::map<int, const std::vector<int>*> list_with;
  std::set<std::vector<int>> lists;
  std::string description;
};

std::set<std::string> names_without_ranks(const Dump& dump) {
  std::set<std::string> names;
  for (const auto& [name, config] : dump.config) {
    if (config.ranks.empty()) names.insert(name);
  }
  for (const FlightEntry& entry : dump.entries) {
    if (!dump.config.contains(entry.group)) names.insert(entry.group);
  }
  return names;
}

void find_lists(Asked& asked) {
  std::set<int> several;
  for (const std::vector<int>& list : asked.lists) {
    for (const int rank : list) {
      const auto found = asked.list_with.find(rank);
      if (found == asked.list_with.end() || found->second == &list) continue;
      if (found->second != nullptr) several.insert(rank);
      found->second = &list;
    }
  }
  for (const int rank : several) asked.list_with[rank] = nullptr;
}

}  // namespace

void complete_groups(std::vector<Dump>& dumps) {
  std::map<std::string, Asked> asked;
  std::vector<std::set<std::string>> names(dumps.size());
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    if (!dumps[i].rank) continue;
    names[i] = names_without_ranks(dumps[i]);
    for (const std::string& name : names[i]) asked[name].list_with[*dumps[i].rank] = nullptr;
  }
  if (asked.empty()) return;
  for (const Dump& dump : dumps) {
    for (const auto& [name, config] : dump.config) {
      const auto found = asked.find(name);
      if (found == asked.end() || config.ranks.empty()) continue;
      found->second.lists.insert(config.ranks);
      found->second.description = config.description;
    }
  }
  for (auto& [name, one] : asked) find_lists(one);
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    for (const std::string& name : names[i]) {
      const Asked& found = asked.at(name);
      const std::vector<int>* list = found.list_with.at(*dumps[i].rank);
      if (list != nullptr) dumps[i].config[name] = {found.description, *list};
    }
  }
}

}  // namespace teller::flight
