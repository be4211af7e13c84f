// vLLM v1 serving online on one GPU: the range names of python_hooks/targets/vllm_v1.json.
#pragma once

#include "simulate/stack.h"

namespace teller::simulate {

// Its own load and limits.
EngineConfig vllm_config(std::uint64_t seed);

std::unique_ptr<Stack> make_vllm_stack(const EngineConfig& config, std::uint64_t seed,
                                       int max_steps);

}  // namespace teller::simulate
