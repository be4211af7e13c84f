// One reader per log format. Each gets a line without its process prefix, and fills format, level,
// source, message, stamp and what else its format states; false, and nothing changed, if the line
// is of another format. Private to logs/.
#pragma once

#include <string_view>

#include "logs/line.h"

namespace teller {

bool read_level_first(std::string_view text, LogFields& fields);  // vLLM, uvicorn, logging's own
bool read_glog(std::string_view text, LogFields& fields);
bool read_nccl(std::string_view text, LogFields& fields);
bool read_ucx(std::string_view text, LogFields& fields);
bool read_ray(std::string_view text, LogFields& fields);
bool read_kernel(std::string_view text, LogFields& fields);
// SGLang, TensorRT-LLM, DLRover, DeepSpeed, gunicorn: "[time …] …".
bool read_bracketed(std::string_view text, LogFields& fields);
bool read_python(std::string_view text, LogFields& fields);  // "time - name - LEVEL - …"
bool read_json(std::string_view text, LogFields& fields);

// Where a line of vLLM begins in `text` if something stands before it (a container's name, the
// prefix of VLLM_LOGGING_PREFIX); npos if nowhere near.
std::size_t find_vllm(std::string_view text);

}  // namespace teller
