// Engine annotations: names of ranges that mark one engine step, and what such a name tells.
#pragma once

#include <cstdint>
#include <string_view>

namespace teller {

// True for a range that inference engines or the PyTorch profiler put around one step:
// "execute_…_context_…_generation_…" (vLLM), "step[…]" (SGLang), "ProfilerStep#N".
bool is_step_annotation(std::string_view name);

// The family of an engine annotation, "" if `name` is none.
std::string_view annotation_family(std::string_view name);

// What the name of a step says; -1 where it does not.
struct AnnotationFacts {
  std::int64_t number = -1;   // the step's number
  std::int64_t tokens = -1;   // scheduled tokens
  std::int64_t context = -1;  // tokens computed before
  std::int64_t seqs = -1;     // requests
};
AnnotationFacts parse_annotation(std::string_view name);

}  // namespace teller
