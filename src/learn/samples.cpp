#include "learn/samples.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/json.h"
#include "base/json_fields.h"
#include "run_folder/locator.h"
#include "run_folder/open_chains.h"

namespace teller::learn_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint16_t kNotChosen = 0xffff;

const Json& artifact(const RunFolder& run, const char* name) {
  static const Json kNone = Json::object();
  const Json& artifacts = run.manifest()["artifacts"];
  const auto found = artifacts.find(name);
  return found != artifacts.end() && found->is_object() ? *found : kNone;
}

// What of encode's options changes what tokens mean.
std::string encoding_of(const Json& options) {
  const auto is_on = [&options](const char* key) {
    return options.is_object() && options.value(key, Json()) == true;
  };
  std::string text = is_on("protected") ? "protected" : "plain";
  if (is_on("self_time")) text += ", self time";
  if (is_on("whole_step")) text += ", whole steps";
  return text;
}

bool is_row(const Chains& chains, std::uint32_t node) {
  return (chains.nodes.flags[node] & kNodeRow) != 0;
}

// Which tokens of a unit the model sees, in order.
std::vector<std::uint32_t> choose_tokens(const RunInput& run, std::uint32_t unit) {
  const std::uint32_t begin = run.tokens.units.first_token[unit];
  const std::uint32_t count = run.tokens.units.token_count[unit];
  std::vector<std::uint32_t> chosen;
  for (std::uint32_t i = 0; i < count; ++i) chosen.push_back(begin + i);
  if (count <= kMostTokens) return chosen;
  const auto goes_first = [&](std::uint32_t token) {
    const std::uint32_t node = run.tokens.token_nodes.node[run.tokens.tokens.first_node[token]];
    return token == begin || run.tokens.tokens.flags[token] != 0 || is_row(run.chains, node);
  };
  std::stable_partition(chosen.begin(), chosen.end(), goes_first);
  chosen.resize(kMostTokens);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

void add_tokens(const RunInput& run, Sample& sample) {
  const auto& t = run.tokens.tokens;
  for (const std::uint32_t token : sample.tokens) {
    sample.ids.push_back(t.id[token]);
    sample.depths.push_back(
        static_cast<std::uint8_t>(std::min<std::size_t>(t.depth[token], kDeepest)));
    const double microseconds =
        static_cast<double>(std::max<std::int64_t>(t.duration_ns[token], 0)) / 1e3;
    sample.log_durations.push_back(static_cast<float>(std::log1p(microseconds)));
    sample.features.push_back(t.features[token]);
  }
}

void add_edges(const RunInput& run, Sample& sample) {
  const std::uint32_t begin = run.tokens.units.first_token[sample.unit];
  std::vector<std::uint16_t> place(run.tokens.units.token_count[sample.unit], kNotChosen);
  for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
    place[sample.tokens[i] - begin] = static_cast<std::uint16_t>(i);
  }
  const std::uint32_t first = run.tokens.units.first_edge[sample.unit];
  for (std::uint32_t e = first; e < first + run.tokens.units.edge_count[sample.unit]; ++e) {
    const std::uint16_t from = place[run.tokens.edges.from[e] - begin];
    const std::uint16_t to = place[run.tokens.edges.to[e] - begin];
    if (from == kNotChosen || to == kNotChosen || from == to) continue;
    sample.edges.push_back({from, to, static_cast<EdgeKind>(run.tokens.edges.kind[e])});
  }
}

using LinesByStep = std::map<std::uint32_t, std::vector<std::uint32_t>>;

LinesByStep lines_by_step(const Chains& chains) {
  LinesByStep lines;
  for (std::uint32_t line = 0; line < chains.log_count(); ++line) {
    if (chains.logs.step[line] != kNoIndex) lines[chains.logs.step[line]].push_back(line);
  }
  return lines;
}

std::vector<std::string> words_of_line(const Chains& chains, std::uint32_t line) {
  return log_words(chains.string(chains.logs.text[line]), chains.string(chains.logs.level[line]),
                   kMostWords);
}

// Graver lines first, so that they are not cut where a step has many; equal ones once.
void add_words(const Chains& chains, std::vector<std::uint32_t> lines, const WordTable& table,
               Sample& sample) {
  std::stable_sort(lines.begin(), lines.end(), [&](std::uint32_t a, std::uint32_t b) {
    return severity_of(chains.string(chains.logs.level[a])) >
           severity_of(chains.string(chains.logs.level[b]));
  });
  std::vector<std::vector<std::string>> seen;
  for (const std::uint32_t line : lines) {
    std::vector<std::string> words = words_of_line(chains, line);
    if (std::find(seen.begin(), seen.end(), words) != seen.end()) continue;
    for (const std::string& word : words) {
      if (sample.words.size() == kMostWords) return;
      sample.words.push_back(table.id(word));
      sample.lines.push_back(line);
    }
    seen.push_back(std::move(words));
  }
}

void add_label(const RunInput& run, const StepLabel* label, Sample& sample) {
  sample.targets.assign(sample.tokens.size(), 0);
  if (label == nullptr) return;
  sample.state = label->state;
  sample.fault_type =
      label->fault_type == FaultType::kNone ? run.labels.run.fault_type : label->fault_type;
  if (label->state != StepState::kCause) return;
  if (sample.fault_type == FaultType::kNone) sample.state = StepState::kAffected;
  for (std::size_t i = 0; i < sample.tokens.size(); ++i) {
    const std::uint32_t token = sample.tokens[i];
    const std::uint32_t first = run.tokens.tokens.first_node[token];
    for (std::uint32_t n = first; n < first + run.tokens.tokens.node_count[token]; ++n) {
      const std::uint32_t node = run.tokens.token_nodes.node[n];
      const bool named = std::any_of(
          label->operators.begin(), label->operators.end(), [&](const OperatorLabel& op) {
            return names_node(op, run.chains, node, run.tokens.tokens.rank[token]);
          });
      if (named) sample.targets[i] = 1;
    }
  }
}

}  // namespace

Result<RunInput> open_run(const std::string& path, bool wants_labels) {
  TELLER_TRY(const RunFolder folder, RunFolder::open(path));
  TELLER_TRY(Chains chains, open_chains(folder));
  TELLER_TRY(Tokens tokens, open_tokens(folder, chains));
  RunInput run{path,
               folder_name(path),
               text_of(artifact(folder, "chains"), "digest"),
               "",
               "",
               std::move(chains),
               std::move(tokens),
               false,
               {}};
  const Json options = artifact(folder, "tokens").value("options", Json::object());
  run.vocabulary = text_of(options, "vocab_sha256");
  run.encoding = encoding_of(options);
  if (wants_labels) {
    TELLER_TRY(run.labels, open_labels(folder));
    run.labelled = true;
  }
  return run;
}

std::int64_t pid_of_step(const Chains& chains, std::uint32_t step) {
  const std::uint32_t track = chains.nodes.track[chains.steps.root[step]];
  return track == kNoIndex ? -1 : chains.tracks.pid[track];
}

bool names_node(const OperatorLabel& label, const Chains& chains, std::uint32_t node,
                std::int32_t rank) {
  if (chains.layer(node) != label.layer) return false;
  if (label.rank >= 0 && rank >= 0 && label.rank != rank) return false;
  if (chains.string(chains.nodes.family[node]) != label.family) return false;
  if (label.request.empty()) return true;
  const std::uint32_t request = chains.nodes.request[node];
  return request != kNoIndex && chains.string(chains.requests.id[request]) == label.request;
}

std::vector<const StepLabel*> labels_of_units(const RunInput& run) {
  std::vector<const StepLabel*> list(run.tokens.unit_count(), nullptr);
  if (!run.labelled) return list;
  // (view, step number, process, rank), -1 for any. A label's process says more than its rank.
  std::map<std::tuple<View, std::int64_t, std::int64_t, std::int64_t>, const StepLabel*> known;
  for (const StepLabel& label : run.labels.steps) {
    const bool everywhere = label.view == View::kHorizontal;
    const std::int64_t pid = everywhere ? -1 : label.pid;
    const std::int64_t rank = everywhere || pid >= 0 ? -1 : label.rank;
    known[{label.view, label.number, pid, rank}] = &label;
  }
  for (std::uint32_t unit = 0; unit < list.size(); ++unit) {
    const auto view = static_cast<View>(run.tokens.units.view[unit]);
    const std::uint32_t step = run.tokens.units.step[unit];
    const std::int64_t number = run.chains.steps.number[step];
    const bool across = view == View::kHorizontal;
    const std::int64_t pid = across ? -1 : pid_of_step(run.chains, step);
    const std::int64_t rank = across ? -1 : run.chains.rank(run.chains.steps.root[step]);
    auto found = known.find({view, number, pid, -1});
    if (found == known.end()) found = known.find({view, number, -1, rank});
    if (found == known.end()) found = known.find({view, number, -1, -1});
    if (found != known.end()) list[unit] = found->second;
  }
  return list;
}

std::vector<Sample> make_samples(const RunInput& run, std::uint32_t run_index,
                                 const WordTable& words) {
  const LinesByStep lines = lines_by_step(run.chains);
  const std::vector<const StepLabel*> labels = labels_of_units(run);
  std::vector<Sample> samples;
  for (std::uint32_t unit = 0; unit < run.tokens.unit_count(); ++unit) {
    if (run.tokens.units.token_count[unit] == 0) continue;
    Sample sample;
    sample.run = run_index;
    sample.unit = unit;
    sample.step = run.tokens.units.step[unit];
    sample.view = static_cast<View>(run.tokens.units.view[unit]);
    sample.tokens = choose_tokens(run, unit);
    add_tokens(run, sample);
    add_edges(run, sample);
    const auto found = lines.find(sample.step);
    if (found != lines.end()) add_words(run.chains, found->second, words, sample);
    add_label(run, labels[unit], sample);
    samples.push_back(std::move(sample));
  }
  return samples;
}

void count_words(const RunInput& run, WordCounter& counter) {
  for (std::uint32_t line = 0; line < run.chains.log_count(); ++line) {
    counter.add(words_of_line(run.chains, line));
  }
}

}  // namespace teller::learn_detail
