// Labels of a run: what was wrong, in which steps, operators, ranks and requests. `simulate` writes
// them, users write their own (docs/labels.md); `train` and `eval` read them, nothing else does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run_folder/features.h"
#include "run_folder/run_folder.h"
#include "teller/event.h"
#include "teller/result.h"

namespace teller {

// What a fault acts on. Numbers index model outputs and are written to files.
enum class FaultType : std::uint8_t {
  kNone = 0,
  kMemory = 1,
  kCudaKernel = 2,
  kRuntimeDriver = 3,
  kCommunication = 4,
  kScheduling = 5,
};
inline constexpr std::size_t kFaultTypeCount = 6;
std::string_view fault_type_name(FaultType type);  // "none", "memory", "cuda_kernel", …
std::optional<FaultType> fault_type_of(std::string_view name);

// State of a (step, view) against its step-local twin.
enum class StepState : std::uint8_t { kNormal = 0, kCause = 1, kWeak = 2, kAffected = 3 };
std::string_view step_state_name(StepState state);  // "normal", "cause", "weak", "affected"

struct RunLabel {
  bool is_fault = false;
  FaultType fault_type = FaultType::kNone;
  std::string workload, stack, mechanism, resource;  // provenance; "" where unknown
  double magnitude = 0;
  std::uint64_t seed = 0;
};

struct RequestLabel {
  std::string request;  // id
  bool is_fault = false;
  FaultType fault_type = FaultType::kNone;
  std::string role;  // "culprit", "victim" or ""
};

// An operator that a label names.
struct OperatorLabel {
  Layer layer = Layer::kStep;
  std::string family;
  std::int32_t rank = -1;  // -1: any
  std::string request;     // "" where shared
  bool operator==(const OperatorLabel&) const = default;
};

// One (step, view). A step is named by the engine's step number, and in the vertical view by the
// rank or process that it ran in.
struct StepLabel {
  View view = View::kVertical;
  std::int64_t number = -1;
  std::int64_t pid = -1;   // -1: any (horizontal)
  std::int32_t rank = -1;  // -1: unknown or any
  StepState state = StepState::kNormal;
  FaultType fault_type = FaultType::kNone;
  std::string visible_in = "trace";  // "trace", "log", "both", "none"
  std::vector<OperatorLabel> operators;
  std::vector<std::int32_t> ranks;   // culprits
  std::vector<std::string> victims;  // request ids
  std::string explanation;
};

struct Labels {
  RunLabel run;
  std::vector<RequestLabel> requests;
  std::vector<StepLabel> steps;
};

// JSON Lines: one object per label with "label": "run", "request" or "step".
Status write_labels(const std::string& path, const Labels& labels);
// Refuses, with one line that names file and line number, what is no label file.
Result<Labels> read_labels(const std::string& path);
// The artefact "labels" of a run folder; without one, RUN/labels.jsonl, which people may write.
Result<Labels> open_labels(const RunFolder& run);

}  // namespace teller
