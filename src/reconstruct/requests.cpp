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
        prefills_(work.chains.requests.id.size()) {}

  void add(std::size_t row) {
    const std::uint32_t request = chains_.rows.request[row];
    Prefill& prefill = prefills_[request];
    switch (static_cast<RowPhase>(chains_.rows.phase[row])) {
      case RowPhase::kWaiting:
        ++requests_.waiting_steps[request];
        prefill.may_be_whole = false;
        return;
      case RowPhase::kPreempted:
        ++requests_.preemptions[request];
        prefill.may_be_whole = false;
        return;
      case RowPhase::kPrefill:
        requests_.prefill_tokens[request] += chains_.rows.scheduled[row];
        prefill.end_ns = chains_.rows.end_ns[row];
        prefill.may_be_whole = chains_.steps.open[chains_.rows.step[row]] == 0;
        break;
      case RowPhase::kDecode:
        requests_.decode_tokens[request] += chains_.rows.scheduled[row];
        // The prefill before the first decode made the first token.
        if (!prefill.decoded) requests_.first_token_ns[request] = prefill.end_ns;
        prefill.decoded = true;
        break;
    }
    if (chains_.rows.scheduled[row] > 0) serve(request, row);
  }

  // Requests that never decoded. Records do not say how long a prompt is: one that has ended, or is
  // never heard of again, after a prefill in a step that came to its end got its token there.
  void finish() {
    for (std::uint32_t request = 0; request < prefills_.size(); ++request) {
      const Prefill& prefill = prefills_[request];
      if (prefill.may_be_whole && !prefill.decoded) {
        requests_.first_token_ns[request] = prefill.end_ns;
      }
    }
  }

 private:
  // A request's prefill so far.
  struct Prefill {
    std::int64_t end_ns = -1;   // end of its last step
    bool may_be_whole = false;  // nothing was seen since that would show that more was to come
    bool decoded = false;
  };

  void serve(std::uint32_t request, std::size_t row) {
    std::int64_t& first = requests_.first_scheduled_ns[request];
    if (requests_.steps[request]++ == 0) first = chains_.steps.begin_ns[chains_.rows.step[row]];
    requests_.last_ns[request] = std::max(requests_.last_ns[request], chains_.rows.end_ns[row]);
  }

  const ChainsBuilder& chains_;
  RequestColumns<OwnedColumn>& requests_;
  std::vector<Prefill> prefills_;  // by request
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
  counter.finish();
}

}  // namespace teller
