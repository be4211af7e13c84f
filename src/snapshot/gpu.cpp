// The GPUs, as nvidia-smi shows them.
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/command.h"
#include "snapshot/surroundings.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kTimeoutMs = 5000;
constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kMostRows = 4096;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  std::string cell;
  while (std::getline(in, cell, ',')) {
    const std::size_t begin = cell.find_first_not_of(' ');
    cells.push_back(begin == std::string::npos ? "" : cell.substr(begin));
  }
  return cells;
}

// Rows of "--format=csv,noheader,nounits" as objects with the given keys.
Json rows(const std::string& text, const std::vector<std::string>& keys) {
  Json list = Json::array();
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line) && list.size() < kMostRows) {
    const std::vector<std::string> cells = split(line);
    if (cells.size() != keys.size()) continue;
    Json row = Json::object();
    for (std::size_t i = 0; i < keys.size(); ++i) row[keys[i]] = cells[i];
    list.push_back(std::move(row));
  }
  return list;
}

std::string query(const std::string& program, const std::string& what,
                  const std::vector<std::string>& keys, Job& job) {
  std::string joined;
  for (const std::string& key : keys) joined += (joined.empty() ? "" : ",") + key;
  const auto output =
      run_command({program, "--query-" + what + "=" + joined, "--format=csv,noheader,nounits"},
                  job.deadline.left_ms(kTimeoutMs), kMostBytes);
  if (output && output->exit_code == 0) return output->out;
  job.add_gap("GPU state", 0,
              output && output->timed_out ? "nvidia-smi did not answer: the driver may hang"
                                          : "nvidia-smi failed",
              "run nvidia-smi by hand; look for Xid lines in dmesg");
  return "";
}

}  // namespace

Json gpu_json(Job& job) {
  const std::string program = find_program("nvidia-smi");
  if (program.empty()) {
    const bool driver = access("/dev/nvidiactl", F_OK) == 0;
    job.add_gap("GPU state", 0,
                driver ? "nvidia-smi is not on PATH" : "there is no NVIDIA driver here");
    return {};
  }
  const std::vector<std::string> device = {"index",           "name",
                                           "utilization.gpu", "memory.used",
                                           "memory.total",    "temperature.gpu",
                                           "power.draw",      "clocks.sm",
                                           "pstate",          "clocks_throttle_reasons.active"};
  const std::vector<std::string> process = {"pid", "used_memory", "gpu_bus_id"};
  Json json;
  json["devices"] = rows(query(program, "gpu", device, job), device);
  json["processes"] = rows(query(program, "compute-apps", process, job), process);
  return json;
}

}  // namespace teller::snapshot_detail
