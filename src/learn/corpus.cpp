#include "learn/corpus.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"

namespace teller::learn_detail {

namespace {

constexpr std::size_t kFewestWordCounts = 2;
constexpr std::size_t kMostWordsKnown = 2000;

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

Status check_run(const RunInput& run, const std::string& sha256) {
  if (run.vocabulary == sha256) return {};
  return Error{ErrorCode::kStale,
               "training on run " + run.path + ": its tokens were made with another vocabulary",
               "encode it again: teller encode " + run.path + " --vocab FILE"};
}

template <typename T>
void shuffle(std::vector<T>& list, std::mt19937_64& random) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random() % i]);
}

}  // namespace

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

}  // namespace teller::learn_detail
