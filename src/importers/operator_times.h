// When operators ran, by the number that PyTorch gave each call ("Record function id"): what ties
// the nodes of an execution trace, which have no times, to a profiler's trace of the same process.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace teller {

struct OperatorTime {
  std::int64_t begin_ns = 0;  // on the clock of its trace
  std::int64_t end_ns = 0;
  std::int64_t tid = 0;
  std::uint64_t name_hash = 0;
};

std::uint64_t operator_name_hash(std::string_view name);

// The operators of one process in one trace.
struct TracedProcess {
  std::string source;  // file name of the trace
  std::int64_t pid = 0;
  nlohmann::ordered_json clock;  // META "clock" of the trace
  std::unordered_map<std::uint64_t, OperatorTime> operators;

  // The call with this number and name; null if there is none.
  const OperatorTime* find(std::uint64_t id, std::uint64_t name_hash) const;
};

class OperatorTimes {
 public:
  // What is added from now on is of the trace `source`.
  void begin_source(const std::string& source);
  // Takes back what was added when there were `count` processes: its source can't be read.
  void keep_first(std::size_t count);
  void end_source(const nlohmann::ordered_json& clock);
  void add(std::int64_t pid, std::uint64_t id, const OperatorTime& time);

  const std::vector<TracedProcess>& processes() const { return processes_; }

 private:
  std::vector<TracedProcess> processes_;
  std::size_t first_ = 0;  // of the current source
  std::string source_;
};

}  // namespace teller
