// What the model sees of a run: for each unit (step, view) its tokens, their deviations and edges,
// and the words of the log lines aligned with it. Read from the run folder; knows nothing of torch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "learn/log_words.h"
#include "run_folder/chains.h"
#include "run_folder/labels.h"
#include "run_folder/run_folder.h"
#include "run_folder/tokens.h"
#include "teller/result.h"

namespace teller::learn_detail {

// Limits of what one unit shows the model: where a unit has more tokens, rows and suspicious tokens
// go first, then the order of the unit.
inline constexpr std::size_t kMostTokens = 256;
inline constexpr std::size_t kMostWords = 48;
inline constexpr std::size_t kDeepest = 31;  // deeper tokens count as this deep

// <unk> of every vocabulary (docs/tpe.md).
inline constexpr std::uint32_t kUnknownToken = 1;

struct SampleEdge {
  std::uint16_t from = 0, to = 0;  // places in the sample
  EdgeKind kind = EdgeKind::kParent;
};

// One unit as model input. Columns of one length n <= kMostTokens.
struct Sample {
  std::uint32_t run = 0;   // index of the run that it is from
  std::uint32_t unit = 0;  // index into the run's units
  std::uint32_t step = 0;  // chains step
  View view = View::kVertical;
  std::vector<std::uint32_t> tokens;  // index into the run's tokens
  std::vector<std::uint32_t> ids;
  std::vector<std::uint8_t> depths;
  std::vector<float> log_durations;  // log(1 + lambda * microseconds), lambda = 1
  std::vector<NodeFeatures> features;
  std::vector<SampleEdge> edges;
  std::vector<std::uint32_t> words;  // WordTable ids, at most kMostWords
  std::vector<std::uint32_t> lines;  // the log line of each word
  // Known from labels; not labelled units have state kAffected, which carries no loss.
  StepState state = StepState::kAffected;
  FaultType fault_type = FaultType::kNone;
  std::vector<std::uint8_t> targets;  // 1: the label names an operator among the token's nodes
};

// One run, opened. Referred to by index from its samples.
struct RunInput {
  std::string path;
  std::string name;
  std::string digest;      // of its chains: two copies of a run have the same
  std::string vocabulary;  // SHA-256 of the vocabulary that its tokens were made with
  std::string encoding;    // how they were made, as "protected, self time"
  Chains chains;
  Tokens tokens;
  bool labelled = false;
  Labels labels;
};

// Opens chains and tokens of a run, and its labels if `wants_labels` (then they must be there).
Result<RunInput> open_run(const std::string& path, bool wants_labels);

// Samples of all its units, in order. Words are counted by `words` ids.
std::vector<Sample> make_samples(const RunInput& run, std::uint32_t run_index,
                                 const WordTable& words);

// Adds the words of all its log lines.
void count_words(const RunInput& run, WordCounter& counter);

// The label of each unit; null where there is none.
std::vector<const StepLabel*> labels_of_units(const RunInput& run);

// Whether the label names `node`.
bool names_node(const OperatorLabel& label, const Chains& chains, std::uint32_t node,
                std::int32_t rank);

// The rank of the process that a step ran in (-1 unknown), and its process id (-1 unknown).
std::int64_t pid_of_step(const Chains& chains, std::uint32_t step);

}  // namespace teller::learn_detail
