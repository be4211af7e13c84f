// Training: runs are split, samples drawn anew in each epoch, and the bundle written whenever the
// validation runs are judged better than before.
#include "learn/train.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "base/file.h"
#include "base/json.h"
#include "learn/bundle.h"
#include "learn/fit_thresholds.h"
#include "learn/judge.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFewestWordCounts = 2;
constexpr std::size_t kMostWordsKnown = 2000;
constexpr std::uint64_t kVocabularyLimit = std::uint64_t{64} << 20;

// A number that depends on the seed and the run alone, not on the order of runs.
std::uint64_t draw_of(std::uint64_t seed, const std::string& text) {
  std::uint64_t x = seed * 0x9e3779b97f4a7c15ULL + 0x2545f4914f6cdd1dULL;
  for (const char c : text) x = (x ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return std::mt19937_64(x)();
}

// Runs for validation: of each (fault type, stack) the share asked for, at least one of two or
// more.
std::vector<bool> choose_validation(const std::vector<RunInput>& runs, double share,
                                    std::uint64_t seed) {
  std::map<std::pair<FaultType, std::string>, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    groups[{runs[i].labels.run.fault_type, runs[i].labels.run.stack}].push_back(i);
  }
  std::vector<bool> chosen(runs.size(), false);
  for (auto& [key, group] : groups) {
    std::sort(group.begin(), group.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(draw_of(seed, runs[a].digest), a) <
             std::pair(draw_of(seed, runs[b].digest), b);
    });
    auto count = static_cast<std::size_t>(share * static_cast<double>(group.size()) + 0.5);
    if (group.size() >= 2) count = std::clamp<std::size_t>(count, 1, group.size() - 1);
    for (std::size_t i = 0; i < count; ++i) chosen[group[i]] = true;
  }
  return chosen;
}

Result<std::int64_t> vocabulary_size(const std::string& path) {
  TELLER_TRY(const std::string text, read_file(path, "vocabulary", kVocabularyLimit));
  const Json json = parse_json(text);
  std::size_t size = 0;
  if (json.is_object()) {
    for (const char* part : {"specials", "symbols", "merges"}) {
      const Json list = json.value(part, Json());
      if (list.is_array()) size += list.size();
    }
  }
  if (size < 2 || size > static_cast<std::size_t>(kMostVocabulary)) {
    return Error{ErrorCode::kCorrupt,
                 "reading vocabulary " + path + ": it is no vocabulary of teller tpe-train",
                 "make one with teller tpe-train"};
  }
  return static_cast<std::int64_t>(size);
}

// What the bundle needs besides weights, before any time is spent on them.
Status check_files(const TrainOptions& o) {
  TELLER_CHECK_OK(check_place(o.output));
  std::error_code error;
  if (o.baseline.empty() || std::filesystem::is_regular_file(o.baseline, error)) return {};
  return Error{ErrorCode::kNotFound, "reading baseline " + o.baseline + ": there is no such file",
               "make one with teller slice HEALTHY --save-baseline FILE"};
}

Status check_options(const TrainOptions& o) {
  const auto bad = [](const char* what) {
    return Error{ErrorCode::kUsage, std::string("train: ") + what, "see teller train --help"};
  };
  if (o.runs.empty()) return bad("no runs were given");
  if (o.epochs < 1 || o.batch < 1 || o.units_per_run < 1) {
    return bad("--epochs, --batch and --units-per-run must be 1 or more");
  }
  if (!(o.validation_share > 0 && o.validation_share < 1)) {
    return bad("--validation-share must lie between 0 and 1");
  }
  if (!(o.learning_rate > 0 && o.learning_rate <= 1))
    return bad("--learning-rate must lie between 0 and 1");
  if (o.width < 4 || o.width > kMostWidth || o.heads < 1 || o.width % o.heads != 0) {
    return bad("--width must be a multiple of --heads, from 4 to 1024");
  }
  if (o.graph_layers < 0 || o.graph_layers > kMostLayers || o.blocks < 0 ||
      o.blocks > kMostLayers) {
    return bad("--graph-layers and --blocks must be 0 to 16");
  }
  return {};
}

// The runs to learn from: training ones with the units drawn from, validation ones whole.
struct Corpus {
  std::vector<RunInput> runs;
  std::vector<bool> is_validation;
  WordTable words;
  std::string vocabulary_sha256;
  std::vector<std::vector<Sample>> samples;  // per run
};

Status check_run(const RunInput& run, const std::string& sha256) {
  if (run.vocabulary == sha256) return {};
  return Error{ErrorCode::kStale,
               "training on run " + run.path + ": its tokens were made with another vocabulary",
               "encode it again: teller encode " + run.path + " --vocab FILE"};
}

Result<Corpus> open_corpus(const TrainOptions& o) {
  Corpus corpus;
  TELLER_TRY(corpus.vocabulary_sha256, sha256_file(o.vocabulary));
  std::set<std::string> digests;
  for (const std::string& path : o.runs) {
    TELLER_TRY(RunInput run, open_run(path, true));
    if (!run.digest.empty() && !digests.insert(run.digest).second) {
      return Error{ErrorCode::kUsage, "training on run " + path + ": it was given twice, or a copy",
                   "give each run once: a copy may be validated on what was trained on"};
    }
    TELLER_CHECK_OK(check_run(run, corpus.vocabulary_sha256));
    if (!corpus.runs.empty() && run.encoding != corpus.runs.front().encoding) {
      return Error{ErrorCode::kStale,
                   "training on run " + path + ": its tokens are encoded as " + run.encoding +
                       ", those of the runs before as " + corpus.runs.front().encoding,
                   "encode all runs with the same options"};
    }
    corpus.runs.push_back(std::move(run));
  }
  corpus.is_validation = choose_validation(corpus.runs, o.validation_share, o.seed);
  WordCounter counter;
  for (std::size_t i = 0; i < corpus.runs.size(); ++i) {
    if (!corpus.is_validation[i]) count_words(corpus.runs[i], counter);
  }
  corpus.words = counter.table(kFewestWordCounts, kMostWordsKnown);
  for (std::uint32_t i = 0; i < corpus.runs.size(); ++i) {
    corpus.samples.push_back(make_samples(corpus.runs[i], i, corpus.words));
    if (corpus.is_validation[i]) continue;
    std::erase_if(corpus.samples.back(), [](const Sample& sample) {
      return sample.state != StepState::kCause && sample.state != StepState::kNormal;
    });
  }
  return corpus;
}

template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

// An epoch: of each training run up to `most` abnormal units, and as many normal ones as there are
// abnormal ones, or `most` of a healthy run.
std::vector<const Sample*> draw_epoch(const Corpus& corpus, std::size_t most,
                                      std::mt19937_64& random) {
  std::vector<const Sample*> drawn;
  for (std::size_t run = 0; run < corpus.runs.size(); ++run) {
    if (corpus.is_validation[run]) continue;
    std::vector<const Sample*> abnormal, normal;
    for (const Sample& sample : corpus.samples[run]) {
      (sample.state == StepState::kCause ? abnormal : normal).push_back(&sample);
    }
    shuffle(abnormal, random);
    shuffle(normal, random);
    if (abnormal.size() > most) abnormal.resize(most);
    const std::size_t wanted = abnormal.empty() ? most : std::max<std::size_t>(abnormal.size(), 4);
    if (normal.size() > wanted) normal.resize(wanted);
    drawn.insert(drawn.end(), abnormal.begin(), abnormal.end());
    drawn.insert(drawn.end(), normal.begin(), normal.end());
  }
  shuffle(drawn, random);
  return drawn;
}

// Batches of units of like size, in random order: padding costs time.
std::vector<std::vector<const Sample*>> make_batches(std::vector<const Sample*> drawn,
                                                     std::size_t size, std::mt19937_64& random) {
  std::stable_sort(drawn.begin(), drawn.end(), [](const Sample* a, const Sample* b) {
    return a->ids.size() / 16 < b->ids.size() / 16;
  });
  std::vector<std::vector<const Sample*>> batches;
  for (std::size_t begin = 0; begin < drawn.size(); begin += size) {
    const std::size_t end = std::min(begin + size, drawn.size());
    batches.emplace_back(drawn.begin() + static_cast<std::ptrdiff_t>(begin),
                         drawn.begin() + static_cast<std::ptrdiff_t>(end));
  }
  shuffle(batches, random);
  return batches;
}

class Trainer {
 public:
  Trainer(const TrainOptions& options, Corpus corpus, Network network)
      : o_(options),
        corpus_(std::move(corpus)),
        network_(std::move(network)),
        random_(options.seed) {}

  Result<JsonResult> run() {
    TrainingOptions training;
    training.learning_rate = o_.learning_rate;
    const auto epoch_size =
        draw_epoch(corpus_, static_cast<std::size_t>(o_.units_per_run), random_).size();
    training.steps =
        o_.epochs * ((static_cast<std::int64_t>(epoch_size) + o_.batch - 1) / o_.batch);
    network_.begin_training(training);
    for (std::int64_t epoch = 1; epoch <= o_.epochs && !stopped_; ++epoch) {
      const Losses losses = train_epoch();
      if (stopped_) break;
      TELLER_CHECK_OK(validate(epoch, losses));
    }
    if (best_ < 0) {
      return Error{ErrorCode::kInterrupted, "train: stopped before the first epoch was over",
                   "nothing was written"};
    }
    report_["stopped"] = stopped_;
    report_["path"] = o_.output;
    return std::make_shared<const Json>(report_);
  }

 private:
  Losses train_epoch() {
    const auto drawn = draw_epoch(corpus_, static_cast<std::size_t>(o_.units_per_run), random_);
    Losses sum;
    double count = 0;
    for (const auto& batch : make_batches(drawn, static_cast<std::size_t>(o_.batch), random_)) {
      if (o_.stop && o_.stop()) {
        stopped_ = true;
        break;
      }
      const Losses losses = network_.train(batch, random_());
      sum.abnormal += losses.abnormal;
      sum.types += losses.types;
      sum.pointers += losses.pointers;
      ++count;
    }
    count = std::max(count, 1.0);
    return {sum.abnormal / count, sum.types / count, sum.pointers / count};
  }

  Status validate(std::int64_t epoch, const Losses& losses) {
    JudgedRuns judged = judge_samples(network_, validation_runs(), validation_samples());
    const Thresholds thresholds = fit_thresholds(judged.runs);
    const Json measured = measure(judged.runs, thresholds, nullptr);
    const double quality = quality_of(measured);
    const Json line = {{"epoch", epoch},
                       {"loss_abnormal", losses.abnormal},
                       {"loss_types", losses.types},
                       {"loss_operators", losses.pointers},
                       {"step_f1", measured["vertical"]["step"]["f1"]},
                       {"operator_f1", measured["vertical"]["operators"]["macro_plus"]["f1"]},
                       {"run_accuracy", measured["run"]["accuracy"]},
                       {"kept", quality > best_}};
    report_["epochs"].push_back(line);
    if (quality > best_) {
      best_ = quality;
      report_["validation"] = measured;
      TELLER_CHECK_OK(save(judged.runs, thresholds));
    }
    say(line);  // that it was kept is said when it is on disk
    return {};
  }

  // Runs first, steps next: a bundle is kept where their sum is larger.
  static double quality_of(const Json& measured) {
    return measured["run"]["accuracy"].get<double>() +
           measured["vertical"]["step"]["f1"].get<double>() +
           0.5 * measured["vertical"]["operators"]["macro_plus"]["f1"].get<double>();
  }

  void say(const Json& line) const {
    if (!o_.progress) return;
    char text[200];
    std::snprintf(
        text, sizeof text,
        "epoch %lld of %lld: loss %.3f + %.3f + %.3f, validation: step F1 %.3f, operator F1 %.3f, "
        "runs right %.3f%s",
        line["epoch"].get<long long>(), static_cast<long long>(o_.epochs),
        line["loss_abnormal"].get<double>(), line["loss_types"].get<double>(),
        line["loss_operators"].get<double>(), line["step_f1"].get<double>(),
        line["operator_f1"].get<double>(), line["run_accuracy"].get<double>(),
        line["kept"].get<bool>() ? " (kept)" : "");
    o_.progress(text);
  }

  Status save(const std::vector<Judged>& runs, const Thresholds& thresholds) {
    Bundle bundle;
    bundle.path = o_.output;
    auto folder = std::filesystem::path(o_.output).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    bundle.name = o_.name.empty() ? folder.filename().string() : o_.name;
    bundle.shape = network_.shape();
    bundle.vocabulary_sha256 = corpus_.vocabulary_sha256;
    bundle.words = corpus_.words;
    bundle.encoding = corpus_.runs.front().encoding;
    bundle.thresholds = thresholds;
    bundle.calibration = fit_calibration(runs, thresholds);
    for (const RunInput& run : corpus_.runs) bundle.seen.push_back(run.digest);
    std::sort(bundle.seen.begin(), bundle.seen.end());
    Json training = {{"seed", o_.seed},
                     {"epochs", o_.epochs},
                     {"batch", o_.batch},
                     {"units_per_run", o_.units_per_run},
                     {"validation_share", o_.validation_share},
                     {"learning_rate", o_.learning_rate},
                     {"threads", o_.threads},
                     {"runs", corpus_.runs.size()}};
    training["epochs_made"] = report_["epochs"];
    training["validation"] = report_["validation"];
    bundle.training_json = training.dump();
    return save_bundle(bundle, network_, o_.vocabulary, o_.baseline);
  }

  std::vector<const RunInput*> validation_runs() const {
    std::vector<const RunInput*> list;
    for (std::size_t i = 0; i < corpus_.runs.size(); ++i) {
      if (corpus_.is_validation[i]) list.push_back(&corpus_.runs[i]);
    }
    return list;
  }
  std::vector<const std::vector<Sample>*> validation_samples() const {
    std::vector<const std::vector<Sample>*> list;
    for (std::size_t i = 0; i < corpus_.runs.size(); ++i) {
      if (corpus_.is_validation[i]) list.push_back(&corpus_.samples[i]);
    }
    return list;
  }

  const TrainOptions& o_;
  Corpus corpus_;
  Network network_;
  std::mt19937_64 random_;
  bool stopped_ = false;
  double best_ = -1;
  Json report_ = {{"epochs", Json::array()}};
};

Status check_corpus(const Corpus& corpus) {
  std::size_t abnormal = 0, normal = 0, validation = 0;
  for (std::size_t i = 0; i < corpus.runs.size(); ++i) {
    if (corpus.is_validation[i]) ++validation;
    for (const Sample& sample : corpus.samples[i]) {
      if (corpus.is_validation[i]) continue;
      if (sample.state == StepState::kCause) ++abnormal;
      if (sample.state == StepState::kNormal) ++normal;
    }
  }
  if (abnormal > 0 && normal > 0 && validation > 0) return {};
  return Error{ErrorCode::kUsage,
               "train: " + std::to_string(abnormal) + " abnormal and " + std::to_string(normal) +
                   " normal labelled steps to train on, " + std::to_string(validation) +
                   " runs to validate on",
               "give more runs: at least two of each kind, healthy and faulty ones"};
}

}  // namespace

Result<JsonResult> train_model(const TrainOptions& options) {
  TELLER_CHECK_OK(check_options(options));
  TELLER_CHECK_OK(check_files(options));
  TELLER_TRY(const std::int64_t vocabulary, vocabulary_size(options.vocabulary));
  TELLER_CHECK_OK(Network::check_threads("train", options.threads));
  Network::set_threads(options.threads);
  TELLER_TRY(Corpus corpus, open_corpus(options));
  TELLER_CHECK_OK(check_corpus(corpus));
  ModelShape shape;
  shape.vocabulary = vocabulary;
  shape.words = static_cast<std::int64_t>(corpus.words.size());
  shape.width = options.width;
  shape.graph_layers = options.graph_layers;
  shape.blocks = options.blocks;
  shape.heads = options.heads;
  shape.paper = options.paper;
  shape.deviations = options.deviations;
  return Trainer(options, std::move(corpus), Network::create(shape, options.seed)).run();
}

}  // namespace teller::learn_detail
