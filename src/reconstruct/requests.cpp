// What is known of each request over all its steps.
#include <algorithm>

#include "reconstruct/passes.h"

namespace teller {

namespace {

// Adds requests up to the last one that has an id.
void grow(Workspace& work) {
  auto& requests = work.chains.requests;
  for (auto id = static_cast<std::uint32_t>(requests.id.size()) + 1; id < work.request_ids.size();
       ++id) {
    requests.id.push_back(work.chains.strings.intern(work.request_ids.view(id)));
    requests.first_seen_ns.push_back(-1);
    requests.first_scheduled_ns.push_back(-1);
    requests.first_token_ns.push_back(-1);
    requests.last_ns.push_back(-1);
    requests.steps.push_back(0);
    requests.waiting_steps.push_back(0);
    requests.preemptions.push_back(0);
    requests.prefill_tokens.push_back(0);
    requests.decode_tokens.push_back(0);
  }
}

// Adds rows to their requests, in the order of the steps.
class RowCounter {
 public:
  explicit RowCounter(Workspace& work)
      : chains_(work.chains),
        requests_(work.chains.requests),
        prefill_end_(work.chains.requests.id.size(), -1) {}

  void add(std::size_t row) {
    const std::uint32_t request = chains_.rows.request[row];
    switch (static_cast<RowPhase>(chains_.rows.phase[row])) {
      case RowPhase::kWaiting:
        ++requests_.waiting_steps[request];
        return;
      case RowPhase::kPreempted:
        ++requests_.preemptions[request];
        return;
      case RowPhase::kPrefill:
        requests_.prefill_tokens[request] += chains_.rows.scheduled[row];
        prefill_end_[request] = chains_.rows.end_ns[row];
        break;
      case RowPhase::kDecode:
        requests_.decode_tokens[request] += chains_.rows.scheduled[row];
        // The prefill before the first decode made the first token.
        if (requests_.first_token_ns[request] < 0) {
          requests_.first_token_ns[request] = prefill_end_[request];
        }
        break;
    }
    if (chains_.rows.scheduled[row] > 0) serve(request, row);
  }

 private:
  void serve(std::uint32_t request, std::size_t row) {
    std::int64_t& first = requests_.first_scheduled_ns[request];
    if (requests_.steps[request]++ == 0) first = chains_.steps.begin_ns[chains_.rows.step[row]];
    requests_.last_ns[request] = std::max(requests_.last_ns[request], chains_.rows.end_ns[row]);
  }

  const ChainsBuilder& chains_;
  RequestColumns<OwnedColumn>& requests_;
  std::vector<std::int64_t> prefill_end_;  // by request: end of its last prefill so far
};

}  // namespace

void see_request(Workspace& work, std::uint32_t request, std::int64_t time_ns) {
  grow(work);
  std::int64_t& first = work.chains.requests.first_seen_ns[request];
  if (time_ns >= 0 && (first < 0 || time_ns < first)) first = time_ns;
}

void fill_requests(Workspace& work) {
  grow(work);
  const auto& nodes = work.chains.nodes;
  for (std::size_t node = 0; node < nodes.request.size(); ++node) {
    if (nodes.request[node] != kNoIndex) {
      see_request(work, nodes.request[node], nodes.begin_ns[node]);
    }
  }
  RowCounter counter(work);
  for (std::size_t row = 0; row < work.chains.rows.step.size(); ++row) counter.add(row);
}

}  // namespace teller
