// Collectives that the ranks of a group called differently at the same place.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "horizontal/flight_waits.h"

namespace teller::flight {

namespace {

constexpr std::size_t kShownCalls = 8;

// Elements of the tensors; -1 where a size is not known.
std::int64_t elements(const std::vector<std::vector<std::int64_t>>& tensors) {
  std::int64_t total = 0;
  for (const auto& sizes : tensors) {
    std::int64_t product = 1;
    for (const std::int64_t size : sizes) {
      if (size < 0 || __builtin_mul_overflow(product, size, &product)) return -1;
    }
    if (__builtin_add_overflow(total, product, &total)) return -1;
  }
  return total;
}

std::string join(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

// What has to be the same on all ranks. Sizes that may differ between ranks (of all_to_all, of
// lists, of what only a root gives or gets) are left out; shapes are too, for only the number of
// elements travels.
struct CallText {
  std::string operation;
  std::string size;   // "" where it may differ, or is not known
  bool known = true;  // the dump says what the size is, if that matters
};

CallText call_of(const FlightEntry& entry) {
  CallText call{flight_operation(entry.name), "", true};
  // The calls of one tensor, whose ranks' parts are equal; lists of tensors need not be.
  const bool base = entry.name.find("_base") != std::string::npos ||
                    entry.name.find("_tensor") != std::string::npos;
  const bool by_input = call.operation == "all_reduce" || call.operation == "allreduce" ||
                        call.operation == "reduce" || call.operation == "broadcast" ||
                        (call.operation == "all_gather" && base);
  const bool by_output = call.operation == "reduce_scatter" && base;
  if (!by_input && !by_output) return call;
  const auto& tensors = by_input ? entry.inputs : entry.outputs;
  const auto& types = by_input ? entry.input_types : entry.output_types;
  const std::int64_t count = elements(tensors);
  call.known = !tensors.empty() && types.size() == tensors.size() && count >= 0 &&
               std::none_of(types.begin(), types.end(),
                            [](const std::string& type) { return type.empty(); });
  if (call.known) call.size = " of " + std::to_string(count) + " " + join(types);
  return call;
}

using Calls = std::map<std::string, std::vector<std::size_t>>;  // call -> nodes

// A size that could not be read contradicts none: its call is the commonest of that operation.
void add_unknown(const std::string& operation, std::size_t member, Calls& calls) {
  auto best = calls.end();
  for (auto at = calls.begin(); at != calls.end(); ++at) {
    const bool same = at->first == operation || at->first.starts_with(operation + " of ");
    if (same && (best == calls.end() || at->second.size() > best->second.size())) best = at;
  }
  (best == calls.end() ? calls[operation] : best->second).push_back(member);
}

Calls calls_at(const Job& job, std::size_t group, std::int64_t seq) {
  Calls calls;
  std::vector<std::pair<std::string, std::size_t>> unknown;
  for (const std::size_t member : job.groups[group].present) {
    const Node& node = job.nodes[member];
    const auto found = node.collectives.find({group, seq});
    if (found == node.collectives.end()) continue;
    const Operation& operation = node.operations[found->second];
    if (operation.doubtful) continue;
    const CallText call = call_of(operation.entry);
    if (call.known) {
      calls[call.operation + call.size].push_back(member);
    } else {
      unknown.emplace_back(call.operation, member);
    }
  }
  for (const auto& [operation, member] : unknown) add_unknown(operation, member, calls);
  return calls;
}

std::string words_of(const Job& job, const Calls& calls) {
  std::string words;
  std::size_t shown = 0;
  for (const auto& [call, nodes] : calls) {
    if (shown++ == kShownCalls) {
      return words + "; and " + std::to_string(calls.size() - kShownCalls) + " other calls";
    }
    words += (words.empty() ? "" : "; ") + call + " by ";
    for (std::size_t i = 0; i < std::min<std::size_t>(nodes.size(), 8); ++i) {
      words += (i == 0 ? "" : ", ") + node_words(job.nodes[nodes[i]]);
    }
    if (nodes.size() > 8) words += " and " + std::to_string(nodes.size() - 8) + " more";
  }
  return words;
}

Mismatch mismatch_of(const Job& job, const Calls& calls, std::size_t group, std::int64_t seq) {
  Mismatch mismatch;
  mismatch.group = group;
  mismatch.seq = seq;
  mismatch.detail = words_of(job, calls);
  const auto size = [](const auto& one) { return one.second.size(); };
  const auto largest = std::max_element(
      calls.begin(), calls.end(), [&](const auto& a, const auto& b) { return size(a) < size(b); });
  const auto as_large = std::count_if(calls.begin(), calls.end(),
                                      [&](const auto& one) { return size(one) == size(*largest); });
  for (auto call = calls.begin(); call != calls.end(); ++call) {
    const bool most = call == largest && as_large == 1;
    auto& side = most ? mismatch.most : mismatch.few;
    side.insert(side.end(), call->second.begin(), call->second.end());
  }
  std::sort(mismatch.few.begin(), mismatch.few.end());
  std::sort(mismatch.most.begin(), mismatch.most.end());
  return mismatch;
}

}  // namespace

std::vector<Mismatch> find_mismatches(const Job& job) {
  std::set<std::pair<std::size_t, std::int64_t>> open;
  for (const Node& node : job.nodes) {
    for (const std::size_t index : node.pending) {
      const Operation& operation = node.operations[index];
      if (operation.collective) open.insert({operation.group, operation.entry.seq});
    }
  }
  std::vector<Mismatch> mismatches;
  for (const auto& [group, seq] : open) {
    if (!mismatches.empty() && mismatches.back().group == group) continue;
    const Calls calls = calls_at(job, group, seq);
    if (calls.size() > 1) mismatches.push_back(mismatch_of(job, calls, group, seq));
  }
  return mismatches;
}

}  // namespace teller::flight
