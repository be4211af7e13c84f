// Hangs what worker threads of a process do under the step that they do it for. Private to
// reconstruct/.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "reconstruct/passes.h"

namespace teller {

// A worker is a thread without steps of its own that runs operators or ends a forward-backward
// flow. What stands at the top of it belongs to a step as a whole.
class WorkerThreads {
 public:
  WorkerThreads(Workspace& work, const StepRoots& roots) : work_(work), roots_(roots) {}

  // By time: what lies wholly in exactly one step of the process.
  void attach_by_time();
  // After that: what lies in several steps at once, or reaches over the end of one, goes to that of
  // its forward pass, where flows tell. Needs `step_of` of all that lies in steps; answers the
  // threads of what was attached.
  std::set<std::uint32_t> attach_by_flows();

 private:
  struct ProcessSteps;
  // Tops of worker threads whose times do not tell their step.
  struct Undecided {
    std::vector<std::uint32_t> items;
    std::vector<bool> several;  // it lies in several, else in none
  };

  void attach(const Thread& thread, const ProcessSteps& steps);

  Workspace& work_;
  const StepRoots& roots_;
  std::map<std::uint16_t, Undecided> undecided_;  // by source
};

}  // namespace teller
