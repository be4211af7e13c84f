// Training: runs are split, samples drawn anew in each epoch, and the bundle written whenever the
// validation runs are judged better than before.
#include "learn/train.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "base/file.h"
#include "base/json.h"
#include "learn/bundle.h"
#include "learn/corpus.h"
#include "learn/fit_thresholds.h"
#include "learn/judge.h"
#include "run_folder/locator.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kVocabularyLimit = std::uint64_t{64} << 20;

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
    bundle.name = o_.name.empty() ? folder_name(o_.output) : o_.name;
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
