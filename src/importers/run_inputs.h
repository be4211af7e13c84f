// Which of the listed inputs go into a run, and as what.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "importers/flight_dump.h"
#include "importers/input_list.h"
#include "importers/source_kind.h"
#include "teller/result.h"

namespace teller {

// A trace among the inputs.
struct TraceInput {
  InputFile input;
  SourceKind kind = SourceKind::kKineto;
  FlightRank rank = {};  // of dumps of a flight recorder
  std::string name = {};
  bool skipped = false;  // it was found and can't be read, or it is a copy
};

struct RunInputs {
  std::vector<TraceInput> traces;
  std::vector<InputFile> logs;
};

// Tells traces and logs apart, each by what it holds, before the first is read; `logs` are given as
// such. What was found and can't be read is skipped; of what was found twice one is taken, and the
// rest left out. Both are said in `list`. Fails for what was named and can't be read, for what was
// named twice, and if there is no trace.
Result<RunInputs> sort_inputs(InputList& list, const std::vector<std::string>& logs,
                              const std::atomic<bool>* stop);

}  // namespace teller
