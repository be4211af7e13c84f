#include "slice/node_features.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_map>

#include "slice/pace.h"

namespace teller::slice_detail {
namespace {

constexpr double kLeastExcess = 0.01;    // of the step's self time: less excess is none
constexpr double kPaceSpread = 0.25;     // of z_step
constexpr std::int64_t kNotReady = 600;  // cudaErrorNotReady: an ordinary answer
constexpr std::size_t kFewestMates = 2;
constexpr double kNothing = 1e-6;  // smaller values are what rounding leaves

bool has_failed(const Chains& chains, std::uint32_t node) {
  return (chains.nodes.flags[node] & kNodeFailed) != 0 && chains.nodes.value[node] != kNotReady;
}

bool is_open(const Chains& chains, std::uint32_t node) {
  return (chains.nodes.flags[node] & kNodeOpen) != 0;
}

// An instance that belongs to one request, with its residual.
struct Owned {
  std::uint32_t key, request;
  std::size_t observation;
  double residual;
  auto order() const { return std::tie(key, request, observation); }
};

// Medians of the residuals per request, of one key: [begin, end) of `list`.
std::vector<double> request_medians(const std::vector<Owned>& list, std::size_t begin,
                                    std::size_t end) {
  std::vector<double> medians;
  for (std::size_t i = begin; i < end;) {
    std::vector<double> values;
    const std::uint32_t request = list[i].request;
    for (; i < end && list[i].request == request; ++i) values.push_back(list[i].residual);
    medians.push_back(median(std::move(values)));
  }
  return medians;
}

}  // namespace

bool is_bad_whatever_its_time(const NodeFeatures& features) {
  return features[kReturnCode] > 0 || features[kOpen] > 0 || features[kPresence] != 0;
}

float feature_value(double value) {
  if (std::isnan(value) || std::abs(value) < kNothing) return 0;
  return static_cast<float>(
      std::clamp(value, -static_cast<double>(kFeatureLimit), static_cast<double>(kFeatureLimit)));
}

Suspects suspects_of(const Findings& findings, const KeyTable& keys) {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> owned;
  for (std::uint32_t id = 0; id < keys.size(); ++id) {
    const OpKey& key = keys.key(id);
    if (!key.owned) continue;
    owned[{std::string(layer_name(key.layer)), key.family, std::string(phase_name(key.phase))}] =
        id;
  }
  Suspects suspects;
  for (const RequestFinding& request : findings.requests) {
    for (const Reason& reason : request.reasons) {
      if (reason.kind != "slow_operator" || !reason.suspicious) continue;
      for (const Json& op : reason.operators) {
        const auto found = owned.find({op["layer"], op["family"], op["phase"]});
        if (found != owned.end()) suspects.owned.insert({found->second, request.request});
      }
    }
  }
  for (const OperatorFinding& op : findings.operators) {
    if (op.suspicious && op.kind == "slower") suspects.shared.insert(op.key);
  }
  return suspects;
}

FeatureMaker::FeatureMaker(const Case& c, Suspects suspects)
    : c_(c),
      suspects_(std::move(suspects)),
      paces_(
          step_pace(c.observations,
                    step_residuals(c.observations, c.baseline.self_fits(), c.chains.step_count()),
                    c.keys.size())),
      sides_(side_values(c.chains, c.observations)),
      rows_(c.chains),
      kinds_(step_kinds(c.chains, c.observations, c.keys)),
      expected_(expected_keys(c.baseline.kinds, c.options.min_baseline_steps)) {
  follow_all_steps();
}

FeatureMaker::Range FeatureMaker::observations_of(std::uint32_t step) const {
  const auto before = [](const Observation& o, std::uint64_t node) { return o.node < node; };
  const std::uint64_t first = c_.chains.steps.root[step];
  const std::uint64_t end = first + c_.chains.steps.node_count[step];
  const auto& all = c_.observations;
  const auto from = std::lower_bound(all.begin(), all.end(), first, before);
  const auto to = std::lower_bound(from, all.end(), end, before);
  return {static_cast<std::size_t>(from - all.begin()), static_cast<std::size_t>(to - all.begin())};
}

void FeatureMaker::measure(std::uint32_t step, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  out.nodes.assign(c_.chains.steps.node_count[step], NodeFeatures{});
  out.score.assign(out.nodes.size(), 0);
  out.ghosts.clear();
  const Range range = observations_of(step);
  measure_times(step, range, out);
  measure_sides(root, range, out);
  measure_mates(root, range, out);
  measure_around(step, range, out);
  measure_presence(step, range, out);
  measure_states(step, out);
  measure_rows(step, out);
  find_suspicious(step, range, out);
}

void FeatureMaker::measure_times(std::uint32_t step, Range range, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  double total = 0, self = 0;
  std::vector<double> excess(range.end - range.begin, 0);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Observation& o = c_.observations[i];
    const KeyModel& model = c_.baseline.models[o.key];
    self += std::exp(static_cast<double>(o.log_self));
    NodeFeatures& features = out.nodes[o.node - root];
    if (model.duration.known()) {
      const double residual = model.duration.residual(o.duration()) - paces_[step];
      features[kZDuration] = feature_value(model.duration.deviation(residual));
    }
    if (!model.self.known()) continue;
    const double residual = model.self.residual(o.self()) - paces_[step];
    features[kExpected] = 1;
    features[kZSelf] = feature_value(model.self.deviation(residual));
    if (residual <= 0) continue;
    excess[i - range.begin] = std::exp(static_cast<double>(o.log_self)) * -std::expm1(-residual);
    total += excess[i - range.begin];
  }
  out.nodes[0][kZStep] = feature_value(std::asinh(paces_[step] / kPaceSpread));
  total = std::max(total, kLeastExcess * self);
  if (total <= 0) return;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const double share = excess[i - range.begin] / total;
    out.nodes[c_.observations[i].node - root][kExcessShare] = feature_value(share);
  }
}

void FeatureMaker::measure_sides(std::uint32_t root, Range range, StepFeatures& out) const {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Observation& o = c_.observations[i];
    const SideModel& model = c_.baseline.sides[o.key];
    const SideValue& value = sides_[i];
    NodeFeatures& features = out.nodes[o.node - root];
    const auto set = [&features](Feature feature, const SideNorm& norm, double x) {
      if (norm.known()) features[feature] = feature_value(norm.deviation(x));  // NaN becomes 0
    };
    set(kQueueDelay, model.queue_delay, static_cast<double>(value.queue_delay));
    set(kGap, model.gap, static_cast<double>(value.gap));
    set(kBytes, model.bytes, static_cast<double>(value.bytes));
  }
}

// As mates.h compares, for single instances: the residual less the median over the other requests
// of theirs. The pace cancels out.
void FeatureMaker::measure_mates(std::uint32_t root, Range range, StepFeatures& out) const {
  std::vector<Owned> owned;
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Observation& o = c_.observations[i];
    const Fit& fit = c_.baseline.models[o.key].duration;
    if (o.request == kNoIndex || !fit.known()) continue;
    if (c_.keys.key(o.key).phase == Phase::kUnknown) continue;
    owned.push_back({o.key, o.request, i, fit.residual(o.duration())});
  }
  std::sort(owned.begin(), owned.end(),
            [](const Owned& a, const Owned& b) { return a.order() < b.order(); });
  for (std::size_t begin = 0, end = 0; begin < owned.size(); begin = end) {
    while (end < owned.size() && owned[end].key == owned[begin].key) ++end;
    const std::vector<double> medians = request_medians(owned, begin, end);
    if (medians.size() < kFewestMates + 1) continue;
    const LeaveOneOut mates(medians);
    const std::uint32_t key = owned[begin].key;
    const Fit& fit = c_.baseline.models[key].duration;
    std::size_t request = 0;  // index into medians
    for (std::size_t i = begin; i < end; ++i) {
      if (i > begin && owned[i].request != owned[i - 1].request) ++request;
      const Observation& o = c_.observations[owned[i].observation];
      const std::optional<double> first = c_.baseline.first_effect[key];
      if (o.first && !first) continue;
      double residual = owned[i].residual - mates.median_without(medians[request]);
      if (o.first) residual -= *first;
      out.nodes[o.node - root][kZMates] = feature_value(fit.deviation(residual));
    }
  }
}

void FeatureMaker::follow_all_steps() {
  StepFeatures features;
  for (std::uint32_t step = 0; step < c_.chains.step_count(); ++step) {
    const std::uint32_t root = c_.chains.steps.root[step];
    features.nodes.assign(c_.chains.steps.node_count[step], NodeFeatures{});
    const Range range = observations_of(step);
    measure_times(step, range, features);
    measure_mates(root, range, features);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> values;
    for (std::size_t i = range.begin; i < range.end; ++i) {
      const Observation& o = c_.observations[i];
      const NodeFeatures& one = features.nodes[o.node - root];
      if (one[kExpected] == 0) continue;
      const float z = one[kZMates] != 0 ? one[kZMates] : one[kZSelf];
      values[{o.key, o.request}].push_back(static_cast<double>(z));
    }
    const std::int32_t rank = c_.chains.rank(root);
    for (auto& [name, list] : values) {
      around_.add({name.first, name.second, rank}, step, median(std::move(list)));
    }
  }
  around_.finish();
}

void FeatureMaker::measure_around(std::uint32_t step, Range range, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  const std::int32_t rank = c_.chains.rank(root);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Observation& o = c_.observations[i];
    out.nodes[o.node - root][kZAround] = feature_value(around_.at({o.key, o.request, rank}, step));
  }
}

void FeatureMaker::measure_presence(std::uint32_t step, Range range, StepFeatures& out) const {
  const StepKind kind = kinds_[step];
  const KindPresence& presence = c_.baseline.kinds;
  if (kind == kNoKind || presence.steps_of(kind) < c_.options.min_baseline_steps) return;
  const std::uint32_t root = c_.chains.steps.root[step];
  std::vector<std::uint32_t> here;
  std::unordered_map<std::string_view, std::uint32_t> places;  // looked up only, never walked
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const Observation& o = c_.observations[i];
    places.try_emplace(c_.chains.string(c_.chains.nodes.family[o.node]), o.node);
    if (c_.keys.key(o.key).owned) continue;
    here.push_back(o.key);
    if (presence.steps_with(o.key, kind) == 0) out.nodes[o.node - root][kPresence] = 1;
  }
  // A step that did not end, or was cut, lacks what was still to come.
  const auto expected = expected_.find(kind);
  if (expected == expected_.end() || c_.chains.steps.open[step] != 0) return;
  std::sort(here.begin(), here.end());
  for (const std::uint32_t key : expected->second) {
    if (std::binary_search(here.begin(), here.end(), key)) continue;
    const auto place = places.find(presence.parents[key]);
    out.ghosts.push_back({place == places.end() ? root : place->second, key});
  }
  std::stable_sort(out.ghosts.begin(), out.ghosts.end(),
                   [](const Ghost& a, const Ghost& b) { return a.under < b.under; });
}

void FeatureMaker::measure_states(std::uint32_t step, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  for (std::uint32_t i = 0; i < out.nodes.size(); ++i) {
    if (has_failed(c_.chains, root + i)) out.nodes[i][kReturnCode] = 1;
    if (is_open(c_.chains, root + i)) out.nodes[i][kOpen] = 1;
  }
}

void FeatureMaker::measure_rows(std::uint32_t step, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  const std::uint32_t first = c_.chains.steps.first_row[step];
  for (std::uint32_t row = first; row < first + c_.chains.steps.row_count[step]; ++row) {
    const std::uint32_t i = c_.chains.rows.node[row] - root;
    rows_.fill(row, out.nodes[i]);
    if (rows_.is_suspicious(row)) out.score[i] = static_cast<float>(c_.options.suspicion_z);
  }
}

float FeatureMaker::least_z(const Observation& o) const {
  const auto least = static_cast<float>(c_.options.suspicion_z);
  const bool suspect =
      suspects_.shared.count(o.key) != 0 || suspects_.owned.count({o.key, o.request}) != 0;
  return suspect ? std::min(kSuspectZ, least) : least;
}

void FeatureMaker::find_suspicious(std::uint32_t step, Range range, StepFeatures& out) const {
  const std::uint32_t root = c_.chains.steps.root[step];
  const auto least = static_cast<float>(c_.options.suspicion_z);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    const std::uint32_t at = c_.observations[i].node - root;
    const NodeFeatures& features = out.nodes[at];
    const float z = std::max(std::abs(features[kZSelf]), std::abs(features[kZMates]));
    if (z >= least_z(c_.observations[i])) out.score[at] = std::max(out.score[at], z);
    if (features[kZAround] >= kAroundZ) out.score[at] = std::max(out.score[at], features[kZAround]);
    if (features[kPresence] > 0) out.score[at] = std::max(out.score[at], least);
  }
  // Of open nodes, those that hold no other: the rest are open because these are.
  std::vector<bool> holds_open(out.nodes.size(), false);
  for (std::uint32_t i = static_cast<std::uint32_t>(out.nodes.size()); i-- > 0;) {
    const bool open = out.nodes[i][kOpen] > 0;
    const bool deepest = open && !holds_open[i];
    if (deepest || out.nodes[i][kReturnCode] > 0) out.score[i] = std::max(out.score[i], least);
    if (i > 0 && (open || holds_open[i]))
      holds_open[c_.chains.nodes.parent[root + i] - root] = true;
  }
}

}  // namespace teller::slice_detail
