#include "logs/line.h"

#include "logs/formats.h"
#include "logs/prefix.h"
#include "logs/text.h"

namespace teller {

namespace {

// What is read of a line: its front, and signs of an error.
constexpr std::size_t kMaxRead = 64 << 10;

// A line that names an exception, or a fault that no level word announces.
bool states_error(std::string_view message) {
  message = message.substr(0, kMaxRead);
  for (const std::string_view sign :
       {"Traceback (most recent call last)", "NVRM: Xid", "hit an exception", "Fatal Python error",
        "CUDA error:", "memory leak detected", "Segmentation fault", "core dumped",
        "Watchdog timeout", "GPU has fallen off the bus", "Root Cause (first observed failure)",
        "Out of memory: Killed process"}) {
    if (message.find(sign) != std::string_view::npos) return true;
  }
  const std::size_t colon = message.find(':');
  const std::string_view word = message.substr(0, colon);
  if (word.empty() || word.size() > 100 || word.find(' ') != std::string_view::npos) return false;
  return (word.ends_with("Error") && word.size() > 5) ||
         (word.ends_with("Exception") && word.size() > 9);
}

bool read_format(std::string_view text, LogFields& fields) {
  return read_level_first(text, fields) || read_glog(text, fields) || read_nccl(text, fields) ||
         read_ucx(text, fields) || read_ray(text, fields) || read_kernel(text, fields) ||
         read_bracketed(text, fields) || read_python(text, fields) || read_json(text, fields) ||
         (text.starts_with(" [") && read_bracketed(text.substr(1), fields));  // Megatron
}

// A line of vLLM behind something of someone else's.
bool read_behind_prelude(std::string_view text, LogFields& fields) {
  const std::size_t at = find_vllm(text);
  if (at == std::string_view::npos) return false;
  std::string_view prelude = text.substr(0, at);
  if (const std::size_t open = prelude.find('('); open != std::string_view::npos) {
    prelude.remove_prefix(open);
    take_prefixes(prelude, fields);
  }
  return read_level_first(text.substr(at), fields);
}

}  // namespace

std::string_view log_format_name(LogFormat format) {
  switch (format) {
    case LogFormat::kNone:
      return "";
    case LogFormat::kVllm:
      return "vllm";
    case LogFormat::kUvicorn:
      return "uvicorn";
    case LogFormat::kSglang:
      return "sglang";
    case LogFormat::kGlog:
      return "glog";
    case LogFormat::kNccl:
      return "nccl";
    case LogFormat::kKernel:
      return "kernel";
    case LogFormat::kRay:
      return "ray";
    case LogFormat::kTensorRt:
      return "tensorrt-llm";
    case LogFormat::kUcx:
      return "ucx";
    case LogFormat::kPython:
      return "python";
    case LogFormat::kBracketed:
      return "bracketed";
    case LogFormat::kJson:
      return "json";
  }
  return "";
}

LogFields parse_line(std::string_view text) {
  LogFields fields;
  std::string_view rest = text;
  take_prefixes(rest, fields);
  fields.message = rest;
  if (read_format(rest, fields) || read_behind_prelude(rest, fields)) {
    fields.prefixed = true;
  }
  if (fields.level.empty() && states_error(fields.message)) fields.level = "ERROR";
  return fields;
}

}  // namespace teller
