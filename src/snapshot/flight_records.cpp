// Dumps of PyTorch's flight recorder (torch.distributed with NCCL).
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "base/file.h"
#include "procfs/procfs.h"
#include "snapshot/surroundings.h"

namespace teller::snapshot_detail {

namespace {

constexpr off_t kMostBytes = 16 << 20;
constexpr int kTriggerWaitMs = 2000;

// Where the process would write its dump.
std::string dump_path(const Process& process, const std::string& rank) {
  for (const char* name : {"TORCH_FR_DUMP_TEMP_FILE", "TORCH_NCCL_DEBUG_INFO_TEMP_FILE"}) {
    const std::string prefix = variable_in(process.environment, name);
    if (!prefix.empty()) return prefix + rank;
  }
  return "/tmp/nccl_trace_rank_" + rank;
}

// Files of a process in a container stand under its own root.
std::string seen_from_here(const Process& process, const std::string& path) {
  return "/proc/" + std::to_string(process.pid) + "/root" + path;
}

std::int64_t start_unix_s(const Process& process) {
  const std::int64_t age = clock_ns(CLOCK_MONOTONIC) - process.start_ns;
  return (clock_ns(CLOCK_REALTIME) - age) / 1'000'000'000;
}

// The content of a regular file that was written since the process began; "" and a reason
// otherwise.
std::string read_dump(const Process& process, const std::string& path, std::string& reason) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  struct stat info {};
  std::string content;
  if (fd < 0) return content;
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    reason = "it is no regular file";
  } else if (info.st_mtim.tv_sec + 1 < start_unix_s(process)) {
    reason = "it is older than the process: of another job";
  } else if (info.st_size > kMostBytes) {
    reason = "it has " + std::to_string(info.st_size) + " bytes, more than 16 MiB";
  } else {
    content.resize(static_cast<std::size_t>(info.st_size));
    const ssize_t count = pread(fd, content.data(), content.size(), 0);
    content.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  }
  close(fd);
  return content;
}

// PyTorch reads a pipe of this name; a byte in it asks for a dump.
bool ask_for_dump(const Process& process, const std::string& rank) {
  const std::string prefix = variable_in(process.environment, "TORCH_NCCL_DEBUG_INFO_PIPE_FILE");
  if (prefix.empty()) return false;
  const std::string path = seen_from_here(process, prefix + rank + ".pipe");
  const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return false;
  struct stat info {};
  const bool asked = fstat(fd, &info) == 0 && S_ISFIFO(info.st_mode) && write(fd, "1\n", 2) == 2;
  close(fd);
  return asked;
}

void trigger_dumps(Job& job) {
  bool any = false;
  for (const Process& process : job.processes) {
    const std::string rank = variable_in(process.environment, "RANK");
    if (rank.empty()) continue;
    if (ask_for_dump(process, rank)) {
      any = true;
    } else {
      job.add_gap("flight recorder dump on demand", process.pid, "no pipe takes the request",
                  "start the job with TORCH_NCCL_DEBUG_INFO_PIPE_FILE=PREFIX and "
                  "TORCH_NCCL_TRACE_BUFFER_SIZE=2000");
    }
  }
  if (any) {
    job.deadline.sleep_until(std::chrono::steady_clock::now() +
                             std::chrono::milliseconds(job.deadline.left_ms(kTriggerWaitMs)));
  }
}

}  // namespace

std::vector<FlightRecord> copy_flight_records(const std::string& folder, bool trigger, Job& job) {
  if (trigger) trigger_dumps(job);
  std::vector<FlightRecord> records;
  for (const Process& process : job.processes) {
    const std::string rank = variable_in(process.environment, "RANK");
    const bool digits = !rank.empty() && std::all_of(rank.begin(), rank.end(),
                                                     [](char c) { return c >= '0' && c <= '9'; });
    if (!digits) continue;
    const std::string path = dump_path(process, rank);
    std::string reason;
    const std::string content = read_dump(process, seen_from_here(process, path), reason);
    if (content.empty()) {
      if (!reason.empty()) job.add_gap("flight recorder dump " + path, process.pid, reason);
      continue;
    }
    std::error_code error;
    std::filesystem::create_directory(folder + "/flight", error);
    const std::string file = "flight/" + std::to_string(process.pid) + ".pickle";
    if (const Status written = write_file_atomic(folder + "/" + file, content); !written) {
      job.add_gap("flight recorder dump " + path, process.pid, written.error().message);
      continue;
    }
    records.push_back({process.pid, path, file});
  }
  return records;
}

}  // namespace teller::snapshot_detail
