// The runs that a model is trained on: which are kept for validation, and what an epoch shows of
// the others.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "learn/learn.h"
#include "learn/log_words.h"
#include "learn/samples.h"

namespace teller::learn_detail {

// The runs to learn from: training ones with the units drawn from, validation ones whole.
struct Corpus {
  std::vector<RunInput> runs;
  std::vector<bool> is_validation;
  WordTable words;
  std::string vocabulary_sha256;
  std::vector<std::vector<Sample>> samples;  // per run
};

// Opens the runs, which must fit together: none twice, all with labels and with tokens of one
// vocabulary and encoding. Of each fault type and stack a share is kept for validation.
Result<Corpus> open_corpus(const TrainOptions& options);
// An Error if there is nothing to train on, or to validate on.
Status check_corpus(const Corpus& corpus);

// An epoch: of each training run up to `most` abnormal units, and as many normal ones as there are
// abnormal ones, or `most` of a healthy run.
std::vector<const Sample*> draw_epoch(const Corpus& corpus, std::size_t most,
                                      std::mt19937_64& random);
// Batches of units of like size, in random order: padding costs time.
std::vector<std::vector<const Sample*>> make_batches(std::vector<const Sample*> drawn,
                                                     std::size_t size, std::mt19937_64& random);

}  // namespace teller::learn_detail
