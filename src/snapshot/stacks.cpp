#include "snapshot/stacks.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "base/command.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "snapshot/native_stack.h"
#include "snapshot/secrets.h"

namespace teller::snapshot_detail {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 16u << 20;
constexpr std::size_t kLongestName = 200;
constexpr std::size_t kLongestLine = 4096;

Frame pyspy_frame(const Json& json) {
  Frame frame;
  frame.file = text_of(json, "filename");
  frame.line = static_cast<int>(std::clamp<std::int64_t>(number_of(json, "line", 0), 0, 1 << 30));
  const std::string module = text_of(json, "module");
  frame.python = module.empty();
  frame.function = frame.python ? text_of(json, "name").substr(0, kLongestName)
                                : short_name(text_of(json, "name"));
  if (!frame.python) frame.file = std::filesystem::path(module).filename().string();
  return frame;
}

// The first line of what a tool said, for a reason.
std::string first_line(const std::string& text) {
  const std::string line = text.substr(0, std::min(text.find('\n'), std::size_t{200}));
  return redact(line);
}

Error failed(const std::string& tool, const CommandOutput& output, const Process& process) {
  if (output.timed_out) {
    return {ErrorCode::kIo, tool + " took too long and was ended", "give more --duration"};
  }
  const bool denied = output.err.find("ermission denied") != std::string::npos ||
                      output.err.find("not permitted") != std::string::npos;
  const std::string why = first_line(output.err);
  return {denied ? ErrorCode::kPermission : ErrorCode::kIo,
          tool + ": " + (why.empty() ? "it gave nothing that could be read" : why),
          denied ? permission_hint(process.pid) : ""};
}

}  // namespace

std::string short_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 && demangled ? demangled.get() : symbol;
  std::string name;
  int angle = 0;
  for (const char c : full) {
    if (c == '(' && angle == 0 && !name.empty() && !name.ends_with("::")) break;
    if (c == '>') --angle;
    if (angle == 0) name += c;
    if (c == '<') ++angle;
  }
  return name.substr(0, kLongestName);
}

bool is_interpreter(const Frame& frame) {
  return frame.function.find("PyEval_EvalFrame") != std::string::npos ||
         frame.function.find("PyEval_EvalCode") != std::string::npos ||
         frame.function.find("PyEval_Vector") != std::string::npos;
}

Result<std::map<std::int64_t, PythonThread>> parse_pyspy(std::string_view json) {
  const Json all = parse_json(json);
  if (!all.is_array()) return Error{ErrorCode::kCorrupt, "py-spy: its output is no list", ""};
  std::map<std::int64_t, PythonThread> threads;
  for (const Json& one : all) {
    if (!one.is_object()) continue;
    PythonThread thread;
    thread.name = text_of(one, "thread_name").substr(0, kLongestName);
    thread.owns_gil = one.value("owns_gil", Json()) == true;
    const auto frames = one.find("frames");
    if (frames != one.end() && frames->is_array()) {
      for (const Json& frame : *frames) {
        if (frame.is_object() && thread.stack.size() < 2 * kMostFrames)
          thread.stack.push_back(pyspy_frame(frame));
      }
    }
    const std::int64_t tid = number_of(one, "os_thread_id", 0);
    if (tid > 0) threads[tid] = std::move(thread);
  }
  return threads;
}

Result<std::map<std::int64_t, PythonThread>> pyspy_stacks(const std::string& program,
                                                          const Process& process, bool pause,
                                                          int timeout_ms) {
  const std::vector<std::string> argv = {program,
                                         "dump",
                                         "--json",
                                         "--full-filenames",
                                         pause ? "--native" : "--nonblocking",
                                         "--pid",
                                         std::to_string(process.pid)};
  TELLER_TRY(const CommandOutput output,
             run_command(argv, timeout_ms, kMostBytes, {"RUST_BACKTRACE=0"}));
  if (output.exit_code != 0) return failed("py-spy", output, process);
  return parse_pyspy(output.out);
}

// Thread 2 (Thread 0x7f… (LWP 123) "name"):
// #0  0x00007f… in futex_wait (…) from /lib/…/libc.so.6
std::map<std::int64_t, Stack> parse_gdb(std::string_view text) {
  static const std::regex heading(R"(^Thread \d+ \(.*LWP (\d+)\b.*)");
  static const std::regex frame(
      R"(^#\d+\s+(?:0x[0-9a-f]+ in )?(\S.*?) \(.*?\)(?: (?:from|at) (\S+))?.*)");
  std::map<std::int64_t, Stack> stacks;
  std::int64_t tid = 0;
  std::istringstream lines{std::string(text)};
  std::string line;
  while (std::getline(lines, line)) {
    if (line.size() > kLongestLine) line.resize(kLongestLine);
    std::smatch found;
    if (std::regex_match(line, found, heading)) {
      tid = std::strtoll(found[1].str().c_str(), nullptr, 10);
    } else if (tid != 0 && std::regex_match(line, found, frame) &&
               stacks[tid].size() < kMostFrames) {
      const std::string file = found[2].str();
      stacks[tid].push_back(
          {false, short_name(found[1].str()),
           std::filesystem::path(file.substr(0, file.rfind(':'))).filename().string(), 0});
    }
  }
  return stacks;
}

Result<std::map<std::int64_t, Stack>> gdb_stacks(const std::string& program, const Process& process,
                                                 int timeout_ms) {
  // Nothing of the process or of its folder is executed, no value of an argument is printed.
  const std::vector<std::string> argv = {
      program, "-nx",
      "-nh",   "-batch",
      "-iex",  "set auto-load off",
      "-iex",  "set debuginfod enabled off",
      "-ex",   "set pagination off",
      "-ex",   "set print frame-arguments none",
      "-ex",   "thread apply all backtrace " + std::to_string(kMostFrames),
      "-p",    std::to_string(process.pid)};
  TELLER_TRY(const CommandOutput output,
             run_command(argv, timeout_ms, kMostBytes, {"DEBUGINFOD_URLS="}));
  std::map<std::int64_t, Stack> stacks = parse_gdb(output.out);
  if (stacks.empty()) return failed("gdb", output, process);
  return stacks;
}

Stack merge_stacks(const Stack& native, const Stack& python) {
  if (python.empty()) return native;
  Stack merged;
  for (const Frame& frame : native) {
    if (is_interpreter(frame)) break;
    merged.push_back(frame);
  }
  // A stack that ends before the interpreter is cut: it is still what the thread does now.
  merged.insert(merged.end(), python.begin(), python.end());
  return merged;
}

}  // namespace teller::snapshot_detail
