// The stage of the model: train, diagnose, eval. This header is all that the command line sees; the
// code behind it is a shared library (libteller_learn.so), which load_learn() opens when one of the
// three commands runs, so that no other needs LibTorch. docs/learn.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "run_folder/run_folder.h"
#include "teller/result.h"

namespace teller {

struct TrainOptions {
  std::vector<std::string> runs;  // run folders with labels and tokens
  std::string output;             // the bundle's folder
  std::string vocabulary;         // tpe.json that the runs were encoded with
  std::string baseline;           // baseline file to put into the bundle; "" for none
  std::string name;               // of the bundle; "" for the folder's name
  std::uint64_t seed = 1;
  std::int64_t epochs = 6;
  std::int64_t batch = 32;          // units
  std::int64_t units_per_run = 16;  // abnormal and normal units each, at most, drawn per epoch
  double validation_share = 0.2;    // of the runs: thresholds and calibration come from them
  double learning_rate = 2e-3;
  std::int64_t width = 64;
  std::int64_t graph_layers = 2;
  std::int64_t blocks = 2;
  std::int64_t heads = 4;
  int threads = 1;
  bool paper = false;      // the paper's encoder and mask
  bool deviations = true;  // rows and deviations as inputs
  // Called after each epoch with a line for people.
  std::function<void(const std::string&)> progress;
  // Asked between optimiser steps: true ends the training, the best bundle so far stays.
  std::function<bool()> stop;
};

struct DiagnoseOptions {
  std::string bundle;
  double prior = 0.05;  // share of abnormal runs where the answer is used
  int threads = 1;
};

struct EvalOptions {
  std::string bundle;
  std::vector<std::string> runs;  // with labels and tokens
  std::string per_step_file;      // "" or where to write a JSON line per unit
  bool allow_seen = false;        // judge runs that the bundle was trained on, too
  int threads = 1;
};

using JsonResult = std::shared_ptr<const nlohmann::ordered_json>;

// What the shared library offers.
class Learn {
 public:
  virtual ~Learn() = default;
  // Trains and writes the bundle; returns what was measured on the validation runs.
  virtual Result<JsonResult> train(const TrainOptions& options) = 0;
  // Diagnoses a run that has chains, slices and tokens, and publishes the artefact "diagnosis".
  virtual Result<JsonResult> diagnose(RunFolder& run, const DiagnoseOptions& options) = 0;
  // Metrics of docs/learn.md over labelled runs.
  virtual Result<JsonResult> evaluate(const EvalOptions& options) = 0;
};

// Files of a bundle, for stages that prepare a run for it.
inline constexpr const char* kBundleFile = "bundle.json";
inline constexpr const char* kBundleWeights = "weights.safetensors";
inline constexpr const char* kBundleVocabulary = "tpe.json";
inline constexpr const char* kBundleBaseline = "baseline.json";

// Version of the interface between the two; the name of the library's one function.
inline constexpr int kLearnVersion = 1;
inline constexpr const char* kLearnFunction = "teller_learn_v1";

}  // namespace teller
