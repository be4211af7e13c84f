// Baseline files: what was learnt from healthy runs, kept as JSON so that the runs themselves are
// not needed. Format "teller.baseline", docs/slice.md.
#pragma once

#include <string>
#include <vector>

#include "slice/baseline.h"
#include "slice/findings.h"

namespace teller::slice_detail {

// Expectations of one key, without the number that a KeyTable gives it.
struct EntryKey {
  OpKey key;
  KeyModel model;
  MatesNorm mates;
  std::vector<double> first_medians;
  SideModel sides;
  std::map<StepKind, std::uint32_t> kinds;  // steps that held it
  std::string parent;
};

// One deployment.
struct BaselineEntry {
  std::string name;
  Json runs = Json::array();  // what it was learnt from
  std::vector<EntryKey> keys;
  ScheduleNorm norm;
  std::map<StepKind, std::uint32_t> kinds;
  FailureRates failures;
  CollectiveNorms collectives;
};

// What a file keeps of a baseline, name and runs aside: keys that anything is known of, by key.
BaselineEntry entry_of(const Baseline& baseline, const KeyTable& keys);
// And back; numbers the entry's keys in `keys`.
Baseline baseline_of(const BaselineEntry& entry, KeyTable& keys);

// Writes `entry` to the file at `path`: in place of the entry of that name, else behind the others.
Status save_entry(const std::string& path, const BaselineEntry& entry);
// The entries of a file, whoever made it: sizes, types and ranges are checked.
Result<std::vector<BaselineEntry>> read_entries(const std::string& path);

struct Chosen {
  const BaselineEntry* entry = nullptr;  // null: there is none
  double covers = 0;                     // share of the run's self time that its keys have
};
// The entry that knows the largest share of the run's self time; the first of several.
Chosen choose_entry(const std::vector<BaselineEntry>& entries,
                    const std::vector<Observation>& observations, const KeyTable& keys);

}  // namespace teller::slice_detail
