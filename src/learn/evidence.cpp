#include "learn/evidence.h"

#include <algorithm>
#include <numeric>

namespace teller::learn_detail {

namespace {

constexpr std::size_t kUnits = 6;          // looked at
constexpr std::size_t kTokensPerUnit = 4;  // neutralised in each
constexpr std::size_t kLinesPerUnit = 4;
constexpr std::size_t kMostEvidence = 12;  // kept

std::vector<std::size_t> strongest_units(const Judged& judged, const RunVerdict& verdict) {
  std::vector<std::size_t> units = verdict.agreeing_units;
  std::stable_sort(units.begin(), units.end(), [&](std::size_t a, std::size_t b) {
    return judged.predictions[a]->abnormal > judged.predictions[b]->abnormal;
  });
  if (units.size() > kUnits) units.resize(kUnits);
  // Beside the strongest, those with log lines: what speaks for the verdict there is wanted too.
  std::size_t added = 0;
  for (const std::size_t unit : verdict.agreeing_units) {
    if (added == kUnits) break;
    if (judged.samples[unit]->lines.empty() ||
        std::find(units.begin(), units.end(), unit) != units.end()) {
      continue;
    }
    units.push_back(unit);
    ++added;
  }
  return units;
}

std::vector<std::size_t> strongest_tokens(const Prediction& prediction, double threshold) {
  std::vector<std::size_t> places(prediction.pointers.size());
  std::iota(places.begin(), places.end(), 0);
  std::erase_if(places, [&](std::size_t i) { return prediction.pointers[i] < threshold; });
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    return prediction.pointers[a] > prediction.pointers[b];
  });
  if (places.size() > kTokensPerUnit) places.resize(kTokensPerUnit);
  return places;
}

std::vector<std::uint32_t> lines_of(const Sample& sample) {
  std::vector<std::uint32_t> lines;
  for (const std::uint32_t line : sample.lines) {
    if (lines.size() == kLinesPerUnit) break;
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  return lines;
}

Sample without_line(const Sample& sample, std::uint32_t line) {
  Sample copy = sample;
  copy.words.clear();
  copy.lines.clear();
  for (std::size_t i = 0; i < sample.words.size(); ++i) {
    if (sample.lines[i] == line) continue;
    copy.words.push_back(sample.words[i]);
    copy.lines.push_back(sample.lines[i]);
  }
  return copy;
}

Sample without_token(const Sample& sample, std::size_t place) {
  Sample copy = sample;
  copy.features[place] = {};
  copy.ids[place] = kUnknownToken;
  return copy;
}

struct Candidates {
  std::vector<Evidence> evidence;
  std::vector<Sample> samples;  // each without its piece of evidence
};

void add_unit(const Judged& judged, std::size_t unit, double threshold, Candidates& candidates) {
  const Sample& sample = *judged.samples[unit];
  for (const std::size_t place : strongest_tokens(*judged.predictions[unit], threshold)) {
    Evidence one;
    one.unit = unit;
    one.token = sample.tokens[place];
    one.features = sample.features[place];
    candidates.evidence.push_back(one);
    candidates.samples.push_back(without_token(sample, place));
  }
  for (const std::uint32_t line : lines_of(sample)) {
    Evidence one;
    one.unit = unit;
    one.is_log = true;
    one.line = line;
    candidates.evidence.push_back(one);
    candidates.samples.push_back(without_line(sample, line));
  }
}

}  // namespace

std::vector<Evidence> find_evidence(const Network& network, const Judged& judged,
                                    const RunVerdict& verdict, const Thresholds& thresholds) {
  Candidates candidates;
  for (const std::size_t unit : strongest_units(judged, verdict)) {
    add_unit(judged, unit, thresholds.pointer, candidates);
  }
  std::vector<const Sample*> samples;
  for (const Sample& sample : candidates.samples) samples.push_back(&sample);
  const std::vector<Prediction> after = network.predict(samples);
  std::vector<Evidence> found;
  for (std::size_t i = 0; i < after.size(); ++i) {
    Evidence one = candidates.evidence[i];
    one.drop =
        log_odds(*judged.predictions[one.unit], verdict.type) - log_odds(after[i], verdict.type);
    if (one.drop > 0) found.push_back(one);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Evidence& a, const Evidence& b) { return a.drop > b.drop; });
  if (found.size() > kMostEvidence) found.resize(kMostEvidence);
  return found;
}

}  // namespace teller::learn_detail
