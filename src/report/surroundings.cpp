// What the samples around the program say that may explain a slow or failed run (docs/context.md).
#include <cstdio>
#include <string>

#include "base/terminal.h"
#include "report/document.h"
#include "run_folder/context_peaks.h"

namespace teller::report_detail {
namespace {

// From here on a pool counts as full: what comes next waits or is preempted.
constexpr double kFull = 0.95;
// Pages that had to be read from disk, of one process.
constexpr double kManyMajorFaults = 1000;

std::string whole(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f", value);
  return text;
}

std::string name_of(const Json& object, const char* key) {
  const Json value = member(object, key);
  return printable(value.is_string() ? value.get<std::string>() : value.dump());
}

class Notes {
 public:
  void add(const char* kind, std::string text, const char* check) {
    notes_.push_back({{"kind", kind}, {"text", std::move(text)}, {"check_next", check}});
  }
  Json take() { return std::move(notes_); }

 private:
  Json notes_ = Json::array();
};

void see_group(const Json& group, Notes& notes) {
  const std::string name = "control group " + name_of(group, "path") + ": ";
  if (real_of(group, "throttled_periods") > 0) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.2f s", real_of(group, "throttled_ns") / 1e9);
    notes.add("cpu_throttled",
              name + "its processes were held back in " +
                  whole(real_of(group, "throttled_periods")) + " of " +
                  whole(real_of(group, "periods")) + " periods, " + seconds +
                  " in all, at a limit of " + member(group, "cpu_limit").dump() + " cores",
              "Raise the CPU limit, or start fewer threads than it has cores.");
  }
  if (real_of(group, "oom_kills") > 0) {
    notes.add("oom_kill",
              name + whole(real_of(group, "oom_kills")) + " processes killed for memory",
              "Raise the memory limit, or look for what grew before.");
  }
  const double limit = real_of(group, "memory_limit");
  if (limit > 0 && real_of(group, "memory_max") >= kFull * limit) {
    notes.add("memory_limit",
              name + "memory reached " + whole(100 * real_of(group, "memory_max") / limit) +
                  " % of its limit",
              "Near the limit the kernel takes pages back, and everything waits for it.");
  }
}

void see_gpu(const Json& gpu, Notes& notes) {
  const std::string name = "GPU " + name_of(gpu, "gpu") + ": ";
  const Json samples = member(gpu, "samples");
  for (const auto& [what, count] : samples.items()) {
    const bool xid = what.starts_with("xid");
    notes.add(
        xid ? "gpu_xid" : "gpu_throttled",
        name + printable(what) + " in " + count.dump() + (xid ? " events" : " samples"),
        xid ? "Look the number up in NVIDIA's list of Xid errors; drain the node if it is one "
              "of hardware."
            : "Compare its clocks with the other GPUs'; look at power limit and cooling.");
  }
  if (real_of(gpu, "ecc_uncorrected") > 0) {
    notes.add("gpu_ecc",
              name + whole(real_of(gpu, "ecc_uncorrected")) + " uncorrected memory errors",
              "Drain the node and test the GPU.");
  }
}

void see_engine(const Json& engine, Notes& notes) {
  const std::string name = "engine at " + name_of(engine, "url") + ": ";
  if (real_of(engine, "kv_usage_max") >= kFull) {
    notes.add(
        "kv_full", name + "KV cache up to " + whole(100 * real_of(engine, "kv_usage_max")) + " %",
        "Requests wait or are preempted when it is full: compare the pool's size and the load.");
  }
  if (real_of(engine, "preemptions") > 0) {
    notes.add("preemptions", name + whole(real_of(engine, "preemptions")) + " preemptions",
              "Each computes its tokens anew: compare the pool's size and the load.");
  }
}

void see_process(const Json& process, Notes& notes) {
  if (real_of(process, "major_faults") >= kManyMajorFaults) {
    notes.add("major_faults",
              "process " + name_of(process, "pid") + " waited for " +
                  whole(real_of(process, "major_faults")) + " pages from disk",
              "Memory is short, or files are read through maps from a slow disk.");
  }
}

template <typename See>
void see_each(const Json& peaks, const char* key, Notes& notes, See see) {
  const Json list = member(peaks, key);
  if (!list.is_array()) return;
  for (const Json& one : list) see(one, notes);
}

}  // namespace

Result<Json> surroundings_json(const RunFolder& run) {
  TELLER_TRY(const Json peaks, context_peaks(run));
  if (!peaks.is_object()) return Json();
  Notes notes;
  see_each(peaks, "cgroups", notes, see_group);
  see_each(peaks, "gpus", notes, see_gpu);
  see_each(peaks, "engines", notes, see_engine);
  see_each(peaks, "processes", notes, see_process);
  return Json{{"samples", member(peaks, "records")}, {"notes", notes.take()}};
}

}  // namespace teller::report_detail
