#include "snapshot/details.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "procfs/procfs.h"
#include "snapshot/behaviour.h"
#include "snapshot/sample.h"
#include "snapshot/secrets.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostListed = 256;  // files, sockets

Json socket_json(int fd, const SocketInfo& socket) {
  return {{"fd", fd},
          {"protocol", socket.protocol},
          {"state", socket.state},
          {"local", socket.local},
          {"peer", socket.peer},
          {"send_queue_bytes", socket.send_queue_bytes},
          {"receive_queue_bytes", socket.receive_queue_bytes}};
}

void add_files(Json& json, const OpenFiles& open) {
  json["open_files"] = open.files.size();
  json["files"] = Json::array();
  json["sockets"] = Json::array();
  for (const Descriptor& file : open.files) {
    const auto socket = open.sockets.find(inode_of(file.target));
    if (file.target.starts_with("socket:")) {
      if (socket != open.sockets.end() && json["sockets"].size() < kMostListed)
        json["sockets"].push_back(socket_json(file.fd, socket->second));
    } else if (json["files"].size() < kMostListed) {
      json["files"].push_back({{"fd", file.fd},
                               {"target", redact(file.target)},
                               {"writable", file.writable},
                               {"position", file.position}});
    }
  }
}

// "Max open files  1024  4096  files": the soft limit, null = unlimited.
Json limits_json(std::int64_t pid) {
  constexpr std::pair<const char*, const char*> kLimits[] = {
      {"Max open files", "open_files"},
      {"Max address space", "address_space_bytes"},
      {"Max file size", "file_size_bytes"},
      {"Max processes", "processes"},
      {"Max locked memory", "locked_memory_bytes"},
      {"Max core file size", "core_bytes"}};
  Json json = Json::object();
  const std::string text = read_proc(pid, "limits");
  for (const auto& [title, key] : kLimits) {
    const std::size_t at = text.find(title);
    if (at == std::string::npos) continue;
    std::istringstream in(text.substr(at + std::string_view(title).size()));
    std::string soft;
    in >> soft;
    json[key] = soft == "unlimited" ? Json() : Json(std::strtoull(soft.c_str(), nullptr, 10));
  }
  return json;
}

std::uint64_t kilobytes(const std::string& status, const char* name) {
  return std::strtoull(status_field(status, name).c_str(), nullptr, 10) * 1024;
}

void add_status(Json& json, std::int64_t pid) {
  const std::string status = read_proc(pid, "status");
  json["uid"] = std::atoi(status_field(status, "Uid").c_str());
  json["rss_bytes"] = kilobytes(status, "VmRSS");
  json["swap_bytes"] = kilobytes(status, "VmSwap");
  json["traced_by"] = std::atoi(status_field(status, "TracerPid").c_str());
  json["threads_count"] = std::atoi(status_field(status, "Threads").c_str());
}

// What the thread's system call waits on, by its first argument.
Json waits_on(const ThreadSample& sample, const OpenFiles& open) {
  const std::string name = syscall_name(sample.syscall);
  const bool by_descriptor = name == "read" || name == "write" || name == "recv" ||
                             name == "send" || name == "accept" || name == "connect" ||
                             name == "flock" || name == "fsync" || name == "ioctl" ||
                             name == "epoll_wait";
  if (!by_descriptor) return {};
  for (const Descriptor& file : open.files) {
    if (static_cast<std::uint64_t>(file.fd) != sample.arguments[0]) continue;
    const auto socket = open.sockets.find(inode_of(file.target));
    if (file.target.starts_with("socket:") && socket != open.sockets.end())
      return socket_json(file.fd, socket->second);
    return {{"fd", file.fd}, {"target", redact(file.target)}};
  }
  return {};
}

Json frame_json(const Frame& frame) {
  Json json = {{"layer", frame.python ? "FE" : "BE"}, {"function", frame.function}};
  json["file"] = frame.file;
  if (frame.line > 0) json["line"] = frame.line;
  return json;
}

}  // namespace

OpenFiles read_open_files(const Process& process) {
  if (!process.readable) return {};
  return {list_descriptors(process.pid), read_sockets(process.pid)};
}

Json rank_json(const Process& process) {
  const auto number = [&](const char* name) -> Json {
    const std::string text = variable_in(process.environment, name);
    const bool digits =
        !text.empty() && text.size() < 10 &&
        std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
    return digits ? Json(std::atoi(text.c_str())) : Json();
  };
  const auto either = [&](const char* first, const char* second) {
    const Json value = number(first);
    return value.is_null() ? number(second) : value;
  };
  Json json;
  json["rank"] = either("RANK", "SLURM_PROCID");
  json["world_size"] = either("WORLD_SIZE", "SLURM_NTASKS");
  json["local_rank"] = either("LOCAL_RANK", "SLURM_LOCALID");
  json["local_world_size"] = number("LOCAL_WORLD_SIZE");
  const std::string address = variable_in(process.environment, "MASTER_ADDR");
  json["master"] =
      address.empty()
          ? Json()
          : Json(redact(address + ":" + variable_in(process.environment, "MASTER_PORT")));
  return json;
}

Json process_json(const Process& process, const OpenFiles& open) {
  Json json;
  json["pid"] = process.pid;
  json["ppid"] = process.ppid;
  json["role"] = process.role;
  json["state"] = std::string(1, process.state);
  json["start_ns"] = process.start_ns;
  json["comm"] = process.comm;
  json["argv"] = process.argv;
  json.update(rank_json(process));
  add_status(json, process.pid);
  // The kernel shows others a 0 in its place.
  const bool may_know = geteuid() == 0 || json["uid"] == geteuid();
  if (process.state == 'Z' && may_know) {
    const int status = process.exit_code;
    json["exit"] = WIFEXITED(status) ? Json(WEXITSTATUS(status)) : Json();
    json["signal"] = WIFSIGNALED(status) ? Json(WTERMSIG(status)) : Json();
  }
  json["python"] = process.python;
  json["cgroup"] = read_proc(process.pid, "cgroup").substr(0, kMostListed * 16);
  json["limits"] = limits_json(process.pid);
  add_files(json, open);
  json["threads_ended"] = process.threads_ended;
  json["threads"] = Json::array();
  for (const auto& [tid, thread] : process.threads) {
    json["threads"].push_back(thread_json(thread, open));
  }
  return json;
}

Json thread_json(const Thread& thread, const OpenFiles& open) {
  const ThreadSample& last = thread.samples.back();
  const Behaviour behaviour = behaviour_of(thread);
  Json json;
  json["tid"] = thread.tid;
  json["name"] = thread.name;
  json["python_name"] = thread.python_name.empty() ? Json() : Json(redact(thread.python_name));
  json["behaviour"] = behaviour_name(behaviour.kind);
  json["samples"] = thread.samples.size();
  json["cpu_share"] = behaviour.cpu_share;
  json["switches"] = behaviour.switches;
  json["states"] = Json::array();
  for (const ThreadSample& sample : thread.samples)
    json["states"].push_back(std::string(1, sample.state));
  json["wait_channel"] = last.wait_channel;
  json["syscall"] = syscall_name(last.syscall);
  json["waits_on"] = waits_on(last, open);
  json["for_ever"] = waits_for_ever(last);
  json["futex"] = waits_for_ever(last) ? Json(last.arguments[0]) : Json();
  json["lock_owner"] = thread.lock_owner == 0 ? Json() : Json(thread.lock_owner);
  json["owns_gil"] = last.owns_gil;
  json["has_python"] = last.has_python;
  json["stack"] = Json::array();
  for (const Frame& frame : last.stack) json["stack"].push_back(frame_json(frame));
  json["kernel_stack"] = thread.kernel_stack;
  return json;
}

}  // namespace teller::snapshot_detail
