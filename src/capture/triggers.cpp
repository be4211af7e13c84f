#include "capture/triggers.h"

#include <algorithm>
#include <utility>

namespace teller::capture {

namespace {

constexpr std::size_t kMaxDetailBytes = 1000;

}  // namespace

std::string_view name_of(TriggerKind kind) {
  constexpr std::string_view kNames[] = {"command", "signal", "log", "slow-step"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Triggers::fire(TriggerKind kind, std::string detail, std::int64_t now_ns, int connection) {
  if (kind == TriggerKind::kLog || kind == TriggerKind::kSlowStep) {
    if (fired_by_itself_ && now_ns - last_by_itself_ns_ < quiet_ns_) {
      ++left_out_;
      return;
    }
    fired_by_itself_ = true;
    last_by_itself_ns_ = now_ns;
  }
  detail.resize(std::min<std::size_t>(detail.size(), kMaxDetailBytes));
  Trigger trigger{kind, std::move(detail), now_ns, now_ns + after_ns_, {}};
  if (connection >= 0) trigger.connections.push_back(connection);
  pending_.push_back(std::move(trigger));
}

bool Triggers::take_due(std::int64_t now_ns, Trigger* trigger) {
  if (pending_.empty() || pending_.front().due_ns > now_ns) return false;
  *trigger = std::move(pending_.front());
  for (std::size_t i = 1; i < pending_.size(); ++i) {
    auto& more = pending_[i].connections;
    trigger->connections.insert(trigger->connections.end(), more.begin(), more.end());
    trigger->detail += "; " + std::string(name_of(pending_[i].kind)) + ": " + pending_[i].detail;
  }
  pending_.clear();
  return true;
}

std::vector<Trigger> Triggers::take_all() {
  return std::exchange(pending_, {});
}

}  // namespace teller::capture
