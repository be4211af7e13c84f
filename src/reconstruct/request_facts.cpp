// Requests of spans that OpenTelemetry recorded: who they are among the run's, and what became of
// them.
#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "reconstruct/family.h"
#include "reconstruct/log_ids.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

using Json = nlohmann::ordered_json;

// How the importer begins the attrs of a span about a request.
constexpr std::string_view kRequestAttrs = "{\"request\":{";

// A Unix time of a span on the run's clock; -1 for one that is not stated or lies beyond it.
std::int64_t time_of(const Json& request, const char* key, const Source& source) {
  const std::int64_t time = number_of(request, key);
  std::int64_t shifted = 0;
  if (time < 0 || __builtin_add_overflow(time, source.shift_ns, &shifted)) return -1;
  return shifted < 0 || shifted > kTimeLimitNs ? -1 : shifted;
}

void set_if_unknown(std::int64_t& column, std::int64_t value) {
  if (column < 0) column = value;
}

// What the engine's step records say is more exact, and tokens are counted there: spans fill in
// what they leave open.
void add_facts(Workspace& work, const Source& source, std::uint32_t request, const Json& facts) {
  auto& requests = work.chains.requests;
  set_if_unknown(requests.first_scheduled_ns[request], time_of(facts, "scheduled_ns", source));
  set_if_unknown(requests.first_token_ns[request], time_of(facts, "first_token_ns", source));
  set_if_unknown(requests.last_ns[request], time_of(facts, "last_token_ns", source));
  if (requests.steps[request] > 0) return;
  const std::int64_t prompt = number_of(facts, "prompt_tokens");
  const std::int64_t completion = number_of(facts, "completion_tokens");
  // A span of another service about the same request tells the same; the larger is the whole.
  requests.prefill_tokens[request] = std::max(requests.prefill_tokens[request], prompt);
  requests.decode_tokens[request] = std::max(requests.decode_tokens[request], completion);
}

}  // namespace

void join_requests(Workspace& work) {
  const RequestMatcher known(work.request_ids);
  std::vector<std::pair<NameFacts*, std::string_view>> fresh;
  for (Source& source : work.sources) {
    if (source.dialect != kSpanDialect) continue;
    for (StringId name = 0; name < source.names.strings(); ++name) {
      NameFacts* const facts = source.names.find(name);
      if (facts == nullptr || !facts->known) continue;
      std::string_view text = source.file.string(name);
      const std::string_view id = split_request(text);
      if (id.empty()) continue;
      facts->request = known.same_request(id);
      if (facts->request == kNoIndex) fresh.emplace_back(facts, id);
    }
  }
  work.joined_below = work.request_ids.size() - 1;
  for (const auto& [facts, id] : fresh) facts->request = work.request(id);
}

void add_request_facts(Workspace& work) {
  for (Source& source : work.sources) {
    if (source.dialect != kSpanDialect) continue;
    for (const auto block : source.file.blocks()) {
      for (const EventRecord& event : block) {
        const std::string_view attrs = source.file.string(event.attrs);
        const NameFacts* const name = source.names.find(event.name);
        if (name == nullptr || attrs.substr(0, kRequestAttrs.size()) != kRequestAttrs) continue;
        const std::uint32_t request = name->request;
        const Json json = parse_json(attrs);
        const auto facts = json.find("request");
        if (request == kNoIndex || facts == json.end() || !facts->is_object()) continue;
        ++work.counters.request_spans;
        if (request < work.joined_below) ++work.counters.request_spans_joined;
        add_facts(work, source, request, *facts);
      }
    }
  }
}

}  // namespace teller
