// The stage `tpe`: trace pair encoding (paper, section 3.5 and Algorithm 2). tpe_train() learns a
// vocabulary from the artefact "slices" of runs; encode() reads "slices" and "chains" and writes
// "tokens". What each option means: docs/tpe.md.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "run_folder/features.h"
#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct TpeTrainOptions {
  std::uint32_t vocab_size = 256;  // specials, symbols and merges
  std::optional<View> view;        // both if empty
  bool whole_step = false;         // whole trees in place of slices
};

struct TpeTrainSummary {
  std::uint64_t sequences = 0;
  std::uint64_t symbols_read = 0;  // ghosts included
  std::uint64_t distinct = 0;      // different symbols read
  std::uint64_t symbols_kept = 0;  // in the vocabulary, one per layer for the others included
  std::uint64_t merges = 0;
  std::uint64_t tokens = 0;  // that the symbols read become
};

// Learns from the slices of `runs` (folders) and writes the vocabulary to `output`.
Result<TpeTrainSummary> tpe_train(const std::vector<std::string>& runs, const std::string& output,
                                  const TpeTrainOptions& options);
// The same from a file of plain sequences: one a line, symbols separated by blanks.
Result<TpeTrainSummary> tpe_train_symbols(const std::string& file, const std::string& output,
                                          const TpeTrainOptions& options);

struct EncodeOptions {
  std::string vocabulary;   // file
  bool protect = true;      // suspicious nodes, ghosts, their ancestors and rows stay single
  bool self_time = false;   // durations without the host children's time
  bool whole_step = false;  // whole trees in place of slices
};

// Counts of one view, or of both.
struct EncodeCounts {
  std::uint64_t units = 0;
  std::uint64_t whole_nodes = 0;  // before slicing
  std::uint64_t symbols = 0;      // before merging
  std::uint64_t tokens = 0;
  std::uint64_t protected_tokens = 0;
  std::uint64_t unknown = 0;  // symbols that the vocabulary lacks
  std::uint64_t others = 0;   // symbols for which their layer's stands
};

struct EncodeSummary {
  EncodeCounts views[2];  // by View
  std::string vocabulary_sha256;
};

// Encodes `run` and publishes the artefact "tokens".
Result<EncodeSummary> encode(RunFolder& run, const EncodeOptions& options);
// Encodes each line of a file of plain sequences and prints its ids: separated by blanks, or as
// {"input_ids": […]}.
Status encode_symbols(const std::string& file, const std::string& vocabulary, bool json,
                      std::ostream& out);
// Reads lines {"input_ids": […]} and prints the symbols of each, separated by blanks.
Status decode_lines(const std::string& file, const std::string& vocabulary, std::ostream& out);

}  // namespace teller
