#include "importers/operator_times.h"

#include <algorithm>
#include <functional>

namespace teller {

std::uint64_t operator_name_hash(std::string_view name) {
  return std::hash<std::string_view>{}(name);
}

const OperatorTime* TracedProcess::find(std::uint64_t id, std::uint64_t name_hash) const {
  const auto found = operators.find(id);
  const bool same = found != operators.end() && found->second.name_hash == name_hash;
  return same ? &found->second : nullptr;
}

void OperatorTimes::begin_source(const std::string& source) {
  source_ = source;
  first_ = processes_.size();
}

void OperatorTimes::keep_first(std::size_t count) {
  processes_.resize(std::min(count, processes_.size()));
}

void OperatorTimes::end_source(const nlohmann::ordered_json& clock) {
  for (std::size_t i = first_; i < processes_.size(); ++i) processes_[i].clock = clock;
}

void OperatorTimes::add(std::int64_t pid, std::uint64_t id, const OperatorTime& time) {
  for (std::size_t i = first_; i < processes_.size(); ++i) {
    if (processes_[i].pid != pid) continue;
    processes_[i].operators.emplace(id, time);
    return;
  }
  // Traces name a process or two; more are rows of a viewer.
  constexpr std::size_t kMostProcesses = 64;
  if (processes_.size() - first_ >= kMostProcesses) return;
  processes_.push_back({source_, pid, nullptr, {}});
  processes_.back().operators.emplace(id, time);
}

}  // namespace teller
