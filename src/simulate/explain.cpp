#include "simulate/explain.h"

#include <vector>

namespace teller::simulate {

std::string explain(const Fault& fault, const StepLabel& label, const StepOutcome& outcome) {
  const std::string step = "Step " + std::to_string(label.number);
  const auto list = [](const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
    return text;
  };
  std::vector<std::string> names;
  for (const OperatorLabel& op : label.operators) {
    names.push_back(op.family + (op.request.empty() ? "" : " of " + op.request));
  }
  const std::string victims = list(label.victims);
  const bool is_one = label.victims.size() == 1;
  switch (fault.mechanism) {
    case Mechanism::kKvPinned:
    case Mechanism::kKvLeak: {
      const std::string why = fault.mechanism == Mechanism::kKvPinned
                                  ? "a second user holds the free KV blocks"
                                  : "blocks of finished requests were not returned";
      if (!outcome.plan.preempted.empty()) {
        return step + " preempts " + victims + " for want of KV blocks: " + why + ".";
      }
      return step + ": " + victims +
             (is_one ? " waits for KV blocks or computes again what it had, because "
                     : " wait for KV blocks or compute again what they had, because ") +
             why + ".";
    }
    case Mechanism::kCreditStarvation:
      return step + " passes over " + victims +
             " although seat, token budget and KV blocks were there: the scheduler charges it for "
             "turns that it never had.";
    case Mechanism::kLifoAdmission:
      return step + " serves the newest requests first, so that " + victims +
             (is_one ? " gets fewer tokens than its turn gives."
                     : " get fewer tokens than their turn gives.");
    case Mechanism::kSlowAttention:
      return step + " is slow in " + list(names) + ": it runs a slow attention kernel.";
    case Mechanism::kWrongKernel:
      return step + " runs another attention kernel than it should: " + list(names) + ".";
    case Mechanism::kMissingCollective:
      return step + " never ends: rank " + std::to_string(outcome.hang_rank) + " leaves out " +
             list(names) + ", and the other ranks wait for it.";
    case Mechanism::kSlowGemm:
      return step + " is slow in " + list(names) +
             ": the matrix product runs a badly chosen kernel.";
    default: {
      const MechanismInfo* info = nullptr;
      for (const MechanismInfo& one : all_mechanisms()) {
        if (one.mechanism == fault.mechanism) info = &one;
      }
      std::string text = step + " is slow in " + list(names);
      if (!label.ranks.empty()) text += " on rank " + std::to_string(label.ranks.front());
      return text + (info != nullptr ? ": " + std::string(info->words) : "") + ".";
    }
  }
}

}  // namespace teller::simulate
