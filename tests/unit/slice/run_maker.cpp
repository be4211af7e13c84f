#include "run_maker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <random>

#include "run_folder/run_folder.h"

namespace teller::testing {
namespace {

constexpr int kLayers = 4;
constexpr int kBlockTokens = 16;
constexpr int kChunk = 64;

struct Job {
  int prompt = 0, output = 0;  // tokens
  int computed = 0, made = 0;
  int blocks = 0, preemptions = 0, highest = 0;
  int last_served = -1, arrived = -1;
  bool running = false, done = false;
  int length() const { return prompt + made; }
  int remaining() const { return length() - computed; }
};

// Log of a duration's ratio to its median: a line through the measured 10, 90 and 99.9 % points.
struct Jitter {
  double low, high, tail;
  double at(double u) const {
    const std::array<std::pair<double, double>, 6> points{
        {{0, 1.5 * low}, {.1, low}, {.5, 0}, {.9, high}, {.999, tail}, {1, 1.3 * tail}}};
    for (std::size_t i = 1; i < points.size(); ++i) {
      const auto [x1, y1] = points[i];
      const auto [x0, y0] = points[i - 1];
      if (u <= x1) return y0 + (y1 - y0) * (u - x0) / (x1 - x0);
    }
    return points.back().second;
  }
};
constexpr Jitter kMlp{-.41, .57, 1.6};
constexpr Jitter kAttention{-.11, .42, .9};

struct Entry {
  std::uint32_t job;
  RowPhase phase;
  int scheduled, computed;
  bool is_new;
};

class Maker {
 public:
  explicit Maker(const RunOptions& options) : o_(options), random_(options.seed * 7919 + 17) {
    free_ = o_.blocks;
    for (int i = 0; i < o_.requests; ++i) {
      Job job;
      job.prompt = 160 + static_cast<int>(random_() % 129);
      job.output = 84 + static_cast<int>(random_() % 25);
      jobs_.push_back(job);
      waiting_for_client_.push_back(static_cast<std::uint32_t>(i));
    }
    out_.tracks.kind.push_back(1);
    out_.tracks.source.push_back(0);
    out_.tracks.pid.push_back(42);
    out_.tracks.tid.push_back(43);
    out_.tracks.device.push_back(-1);
    out_.tracks.stream.push_back(-1);
    out_.tracks.label.push_back(out_.strings.intern("engine"));
    out_.sources.name.push_back(out_.strings.intern("pid 42"));
    add_requests();
  }

  ChainsBuilder make() {
    for (int step = 0; step < o_.max_steps; ++step) {
      arrive(step);
      if (in_flight() == 0) break;
      run_step(step);
    }
    finish_requests();
    return std::move(out_);
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  int in_flight() const {
    return static_cast<int>(std::count_if(
        jobs_.begin(), jobs_.end(), [](const Job& job) { return job.arrived >= 0 && !job.done; }));
  }

  void arrive(int step) {
    if (waiting_for_client_.empty() || in_flight() >= o_.clients) return;
    Job& job = jobs_[waiting_for_client_.front()];
    job.arrived = step;
    out_.requests.first_seen_ns[waiting_for_client_.front()] = now_;
    waiting_for_client_.pop_front();
  }

  static int blocks_for(int tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

  bool is_victim(std::uint32_t job, Defect defect) const {
    return o_.defect == defect && job == o_.victim;
  }

  void preempt(std::uint32_t index, std::vector<Entry>& entries) {
    Job& job = jobs_[index];
    entries.push_back({index, RowPhase::kPreempted, 0, job.computed, false});
    free_ += job.blocks;
    job.blocks = job.computed = 0;
    job.running = false;
    ++job.preemptions;
  }

  // Takes the blocks for `tokens`, at the cost of the youngest running request.
  bool make_room(std::uint32_t index, int tokens, std::vector<Entry>& entries) {
    Job& job = jobs_[index];
    if (is_victim(index, Defect::kMemory) && job.running && job.preemptions < o_.preemptions &&
        job.made >= 5 * (job.preemptions + 1) && job.remaining() == 1) {
      preempt(index, entries);
      return false;
    }
    while (blocks_for(tokens) - job.blocks > free_) {
      if (!job.running) return false;
      std::uint32_t youngest = index;
      for (std::uint32_t other = 0; other < jobs_.size(); ++other) {
        if (jobs_[other].running && jobs_[other].arrived >= jobs_[youngest].arrived) {
          youngest = other;
        }
      }
      preempt(youngest, entries);
      if (youngest == index) return false;
    }
    free_ -= blocks_for(tokens) - job.blocks;
    job.blocks = blocks_for(tokens);
    return true;
  }

  std::vector<Entry> schedule(int* tokens) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
      if (jobs_[i].arrived >= 0 && !jobs_[i].done) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return jobs_[a].arrived < jobs_[b].arrived;
    });
    int budget = o_.token_budget;
    std::vector<Entry> entries;
    for (const std::uint32_t i : order) serve(i, &budget, order.size(), entries);
    *tokens = o_.token_budget - budget;
    return entries;
  }

  void serve(std::uint32_t index, int* budget, std::size_t known, std::vector<Entry>& entries) {
    Job& job = jobs_[index];
    const auto preempted = [&entries, index] {
      return std::any_of(entries.begin(), entries.end(),
                         [index](const Entry& entry) { return entry.job == index; });
    };
    if (preempted()) return;
    const auto seats =
        std::count_if(jobs_.begin(), jobs_.end(), [](const Job& one) { return one.running; });
    const int count = std::min({job.remaining(), *budget, kChunk});
    bool refused = count <= 0 || (!job.running && seats >= o_.max_seqs);
    if (!refused && is_victim(index, Defect::kStarve) && starved_ < o_.starved_steps &&
        job.made >= 6 && known > 1 && free_ > 0) {
      ++starved_;
      refused = true;
    }
    if (refused || !make_room(index, job.computed + count, entries)) {
      if (!preempted()) entries.push_back({index, RowPhase::kWaiting, 0, job.computed, false});
      return;
    }
    job.running = true;
    *budget -= count;
    const bool prefill = job.computed < std::max(job.prompt, job.highest);
    entries.push_back({index, prefill ? RowPhase::kPrefill : RowPhase::kDecode, count, job.computed,
                       job.computed == 0});
  }

  // --- nodes -------------------------------------------------------------------------------------

  std::uint32_t open_node(std::uint32_t parent, const std::string& name, Layer layer,
                          std::uint32_t request, std::uint16_t flags = 0) {
    auto& n = out_.nodes;
    n.parent.push_back(parent);
    n.step.push_back(step_);
    n.name.push_back(out_.strings.intern(name));
    n.family.push_back(out_.strings.intern(name));
    n.track.push_back(0);
    n.request.push_back(request);
    n.begin_ns.push_back(now_);
    n.end_ns.push_back(now_);
    n.value.push_back(0);
    n.source.push_back(0);
    n.flags.push_back(flags);
    n.layer.push_back(static_cast<std::uint8_t>(layer));
    return static_cast<std::uint32_t>(n.parent.size() - 1);
  }
  void close_node(std::uint32_t node) { out_.nodes.end_ns[node] = now_; }

  void work(std::uint32_t parent, const std::string& name, double us, const Jitter& jitter,
            std::uint32_t request = kNoIndex) {
    double ns = us * 1000 * std::exp(jitter.at(uniform())) * o_.pace * busy_factor_;
    if (uniform() < 0.004) ns += 4e6 * uniform();  // another process has the core for a time slice
    const std::uint32_t node = open_node(parent, name, Layer::kBackEnd, request);
    now_ += static_cast<std::int64_t>(ns);
    close_node(node);
    now_ += static_cast<std::int64_t>(2000 * busy_factor_);
  }

  void attend(std::uint32_t parent, const std::vector<Entry>& entries) {
    double first = 1.6;  // the first of a batch finds cold caches
    for (const Entry& entry : entries) {
      if (entry.scheduled == 0) continue;
      double us = first * (60 + 0.25 * entry.computed + 2.5 * (entry.scheduled - 1) +
                           0.01 * entry.scheduled * entry.computed);
      if (is_victim(entry.job, Defect::kSlowOp)) us *= o_.slow_ratio;
      work(parent, "attention", us, kAttention, o_.owned_ranges ? entry.job : kNoIndex);
      first = 1;
    }
  }

  void run_model(std::uint32_t parent, const std::vector<Entry>& entries, int tokens) {
    work(parent, "embedding", 40 + tokens, kMlp);
    const double mlp = o_.defect == Defect::kSlowFamily ? o_.slow_ratio : 1;
    for (int layer = 0; layer < kLayers; ++layer) {
      work(parent, "qkv projection", 300 + 12 * tokens, kMlp);
      work(parent, "kv write", 30 + tokens, kMlp);
      attend(parent, entries);
      work(parent, "output projection", 120 + 4 * tokens, kMlp);
      work(parent, "mlp", (700 + 30 * tokens) * mlp, kMlp);
    }
    work(parent, "lm head", 150, kMlp);
  }

  void run_step(int number) {
    update_busy();
    step_ = static_cast<std::uint32_t>(out_.steps.root.size());
    now_ += 50000;
    const std::uint32_t root = open_node(kNoIndex, "engine step", Layer::kStep, kNoIndex);
    const std::uint32_t schedule_node =
        open_node(root, "schedule", Layer::kStep, kNoIndex, kNodeSchedule);
    int tokens = 0;
    const std::vector<Entry> entries = schedule(&tokens);
    now_ += 60000;
    const auto first_row = static_cast<std::uint32_t>(out_.rows.step.size());
    if (o_.step_records) add_rows(schedule_node, entries, tokens, number);
    close_node(schedule_node);
    const std::uint32_t model = open_node(root, "execute model", Layer::kFrontEnd, kNoIndex);
    run_model(model, entries, tokens);
    const bool hangs = o_.ends_open && number + 1 == o_.max_steps;
    if (hangs) hang(root, model);
    close_node(model);
    work(root, "sample", 50, kMlp);
    close_node(root);
    add_step(root, schedule_node, number, entries, tokens, first_row, hangs);
    update(entries, number);
  }

  void hang(std::uint32_t root, std::uint32_t model) {
    const std::uint32_t node = open_node(model, "attention", Layer::kBackEnd, kNoIndex, kNodeOpen);
    now_ += 5'000'000'000;
    close_node(node);
    out_.nodes.flags[root] |= kNodeOpen;
    out_.nodes.flags[model] |= kNodeOpen;
  }

  void add_rows(std::uint32_t schedule_node, const std::vector<Entry>& entries, int tokens,
                int number) {
    for (const Entry& entry : entries) {
      const Job& job = jobs_[entry.job];
      auto& r = out_.rows;
      r.step.push_back(step_);
      r.request.push_back(entry.job);
      r.node.push_back(open_node(schedule_node, "row:" + std::string(row_phase_name(entry.phase)),
                                 Layer::kStep, entry.job, kNodeRow | kNodeSynthetic));
      r.scheduled.push_back(entry.scheduled);
      r.computed.push_back(entry.computed);
      r.computed_fall.push_back(std::max(0, job.highest - entry.computed));
      r.since_served.push_back(job.last_served < 0 ? 0 : number - job.last_served - 1);
      r.end_ns.push_back(0);
      r.share.push_back(tokens > 0 ? static_cast<double>(entry.scheduled) / tokens : 0);
      r.phase.push_back(static_cast<std::uint8_t>(entry.phase));
      r.is_new.push_back(entry.is_new ? 1 : 0);
    }
  }

  void add_step(std::uint32_t root, std::uint32_t schedule_node, int number,
                const std::vector<Entry>& entries, int tokens, std::uint32_t first_row, bool open) {
    auto& s = out_.steps;
    std::int64_t context = 0;
    for (const Entry& entry : entries) context += entry.scheduled > 0 ? entry.computed : 0;
    const bool known = o_.step_records;
    s.root.push_back(root);
    s.schedule.push_back(schedule_node);
    s.engine.push_back(out_.strings.intern("demo"));
    s.number.push_back(number + 1);
    s.begin_ns.push_back(out_.nodes.begin_ns[root]);
    s.end_ns.push_back(now_);
    s.last_ns.push_back(now_);
    s.device_busy_ns.push_back(0);
    s.tokens.push_back(known ? tokens : -1);
    s.context.push_back(known ? context : -1);
    s.kv_free.push_back(known ? free_ : -1);
    s.kv_total.push_back(known ? o_.blocks : -1);
    s.token_limit.push_back(known ? o_.token_budget : -1);
    s.seqs.push_back(
        known ? static_cast<int>(std::count_if(jobs_.begin(), jobs_.end(),
                                               [](const Job& job) { return job.running; }))
              : -1);
    s.seq_limit.push_back(known ? o_.max_seqs : -1);
    s.first_row.push_back(first_row);
    s.row_count.push_back(static_cast<std::uint32_t>(out_.rows.step.size()) - first_row);
    s.node_count.push_back(static_cast<std::uint32_t>(out_.nodes.parent.size()) - root);
    s.open.push_back(open ? 1 : 0);
  }

  void update(const std::vector<Entry>& entries, int number) {
    auto& r = out_.requests;
    for (const Entry& entry : entries) {
      Job& job = jobs_[entry.job];
      if (entry.phase == RowPhase::kWaiting) ++r.waiting_steps[entry.job];
      if (entry.phase == RowPhase::kPreempted) ++r.preemptions[entry.job];
      if (entry.scheduled == 0) continue;
      job.computed += entry.scheduled;
      job.highest = std::max(job.highest, job.computed);
      job.last_served = number;
      ++r.steps[entry.job];
      if (r.first_scheduled_ns[entry.job] < 0) r.first_scheduled_ns[entry.job] = now_;
      (entry.phase == RowPhase::kPrefill ? r.prefill_tokens : r.decode_tokens)[entry.job] +=
          entry.scheduled;
      r.last_ns[entry.job] = now_;
      if (job.remaining() == 0) {
        if (job.made++ == 0) r.first_token_ns[entry.job] = now_;
        if (job.made >= job.output) {
          job.done = true;
          job.running = false;
          free_ += job.blocks;
          job.blocks = 0;
        }
      }
    }
  }

  void update_busy() {
    if (!o_.busy) return;
    if (busy_left_ > 0 && --busy_left_ == 0) busy_factor_ = 1;
    if (busy_left_ == 0 && uniform() < 0.03) {
      busy_left_ = 3 + static_cast<int>(random_() % 30);
      busy_factor_ = 2 + 2 * uniform();
    }
  }

  void add_requests() {
    auto& r = out_.requests;
    for (int i = 0; i < o_.requests; ++i) {
      r.id.push_back(out_.strings.intern("req-" + std::to_string(i)));
      r.first_seen_ns.push_back(-1);
      r.first_scheduled_ns.push_back(-1);
      r.first_token_ns.push_back(-1);
      r.last_ns.push_back(-1);
      r.steps.push_back(0);
      r.waiting_steps.push_back(0);
      r.preemptions.push_back(0);
      r.prefill_tokens.push_back(0);
      r.decode_tokens.push_back(0);
    }
  }

  void finish_requests() {
    for (std::size_t row = 0; row < out_.rows.step.size(); ++row) {
      out_.rows.end_ns[row] = out_.steps.end_ns[out_.rows.step[row]];
    }
  }

  const RunOptions o_;
  std::mt19937_64 random_;
  std::vector<Job> jobs_;
  std::deque<std::uint32_t> waiting_for_client_;
  ChainsBuilder out_;
  std::int64_t now_ = 1'000'000'000;
  std::uint32_t step_ = 0;
  int free_ = 0;
  int starved_ = 0;
  int busy_left_ = 0;
  double busy_factor_ = 1;
};

}  // namespace

ChainsBuilder make_chains(const RunOptions& options) {
  return Maker(options).make();
}

Status make_run(const std::string& path, const RunOptions& options) {
  TELLER_TRY(RunFolder run, RunFolder::create(path, "run_maker", false));
  TELLER_CHECK_OK(make_chains(options).write(run.file("chains.tcol")));
  ArtifactInfo info;
  info.name = "chains";
  info.files = {"chains.tcol"};
  info.made_by = "reconstruct";
  TELLER_CHECK_OK(run.publish(info));
  run.set_state("sealed");
  return run.save();
}

}  // namespace teller::testing
