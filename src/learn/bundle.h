// A trained model as a folder: bundle.json (options, words, thresholds, calibration, self-test,
// what it was trained on), weights.safetensors, tpe.json and baseline.json. docs/learn.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "learn/log_words.h"
#include "learn/network.h"
#include "teller/result.h"

namespace teller::learn_detail {

// Steps that must agree on a type before the run is called so: at least `steps`, and at least this
// share of all units, each with a logit of at least `logit` (and of the step threshold).
struct Agreement {
  std::int64_t steps = 2;
  double share = 0;
  double logit = 0;
};

// From validation runs, at their own prior.
struct Thresholds {
  double step = 0;     // a unit is abnormal from this logit on
  double pointer = 0;  // a token is an operator at fault from this logit on
  std::array<Agreement, kCategories> agreement;  // by FaultType - 1
  double request = 0.3;  // a request is named from this share of the strongest request's score on
};

// Probability of a run = sigmoid(slope * score + offset), score = the k-th largest logit of steps
// that agree, less the threshold (Platt, 1999).
struct Calibration {
  double slope = 1;
  double offset = 0;
  double prior = 0.5;  // share of abnormal runs that it was fitted on
};

struct Bundle {
  std::string path;
  std::string name;
  std::string sha256;  // of bundle.json
  ModelShape shape;
  std::string vocabulary_sha256;  // of tpe.json
  std::string weights_sha256;     // of weights.safetensors; known where it was loaded
  WordTable words;
  Thresholds thresholds;
  Calibration calibration;
  std::string encoding;           // how its runs' tokens were made (RunInput::encoding); "" unknown
  std::vector<std::string> seen;  // digests of the chains it was trained or validated on
  std::string training_json = "{}";  // options and what was measured
  bool has_baseline = false;
};

// Reads and checks bundle.json, tpe.json's digest and the weights, and repeats the self-test: a
// bundle that does not answer as it did when it was made is refused.
struct LoadedBundle {
  Bundle bundle;
  Network network;
};
Result<LoadedBundle> load_bundle(const std::string& path);

// Whether the run's tokens are such as the model was trained on; `what` is being done with the run.
Status check_tokens(const RunInput& run, const Bundle& bundle, const std::string& what);

// Whether a bundle may be written to `path`: an Error if something else than a bundle is there.
Status check_place(const std::string& path);

// Writes the bundle to a folder beside `bundle.path` and exchanges the two, so that whoever reads
// sees the old one or the new one. `vocabulary` and `baseline` are files to copy ("" for none).
Status save_bundle(const Bundle& bundle, const Network& network, const std::string& vocabulary,
                   const std::string& baseline);

}  // namespace teller::learn_detail
