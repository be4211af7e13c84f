#include "reconstruct/annotation.h"

#include <algorithm>

namespace teller {

namespace {

constexpr std::string_view kProfilerStep = "ProfilerStep#";
constexpr std::string_view kSglangStep = "step[";
constexpr std::string_view kVllmStep = "execute_";
// Larger numbers are no token counts; they are kept out so that sums can't overflow.
constexpr std::int64_t kMaxCount = std::int64_t{1} << 48;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_vllm_step(std::string_view name) {
  if (!starts_with(name, kVllmStep)) return false;
  const std::size_t context = name.find("context_");
  return context != std::string_view::npos &&
         name.find("_generation_", context) != std::string_view::npos;
}

// The number that follows `key` in `text`; -1 if there is none.
std::int64_t number_after(std::string_view text, std::string_view key) {
  const std::size_t found = text.find(key);
  if (found == std::string_view::npos) return -1;
  std::int64_t number = -1;
  for (const char c : text.substr(found + key.size())) {
    if (c < '0' || c > '9') break;
    number = std::max<std::int64_t>(number, 0) * 10 + (c - '0');
    if (number > kMaxCount) return -1;
  }
  return number;
}

std::int64_t add_known(std::int64_t a, std::int64_t b) {
  return a < 0 ? b : b < 0 ? a : a + b;
}

// One half of vLLM's name: "15(sq15360sk15360…)" or "1(888_788544)" after its key.
struct VllmHalf {
  std::int64_t requests = -1;
  std::int64_t tokens = -1;
  std::int64_t context = -1;
};
VllmHalf parse_half(std::string_view text, std::string_view key) {
  VllmHalf half;
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return half;
  text = text.substr(at);
  half.requests = number_after(text, key);
  half.tokens = number_after(text, "(sq");
  const std::int64_t keys = number_after(text, "sk");
  if (half.tokens < 0) half.tokens = number_after(text, "(");
  if (keys >= half.tokens && half.tokens >= 0) half.context = keys - half.tokens;
  return half;
}

AnnotationFacts parse_vllm(std::string_view name) {
  const std::size_t split = name.find("_generation_");
  const VllmHalf prefill = parse_half(name.substr(0, split), "context_");
  const VllmHalf decode = parse_half(name.substr(split), "_generation_");
  AnnotationFacts facts;
  facts.tokens = number_after(name, kVllmStep);
  if (facts.tokens < 0) facts.tokens = add_known(prefill.tokens, decode.tokens);
  facts.context = add_known(prefill.context, decode.context);
  facts.seqs = add_known(prefill.requests, decode.requests);
  return facts;
}

AnnotationFacts parse_sglang(std::string_view name) {
  AnnotationFacts facts;
  facts.seqs = number_after(name, "bs=");
  facts.tokens = number_after(name, "toks=");
  // A decode step gives each request one token, and says no count.
  if (facts.tokens < 0 && starts_with(name, "step[DECODE")) facts.tokens = facts.seqs;
  return facts;
}

}  // namespace

bool is_step_annotation(std::string_view name) {
  return starts_with(name, kProfilerStep) || starts_with(name, kSglangStep) || is_vllm_step(name);
}

std::string_view annotation_family(std::string_view name) {
  if (starts_with(name, kProfilerStep)) return kProfilerStep.substr(0, kProfilerStep.size() - 1);
  if (is_vllm_step(name)) return "execute_context_generation";
  if (!starts_with(name, kSglangStep)) return "";
  for (const std::string_view known :
       {"step[EXTEND]", "step[DECODE]", "step[MIXED]", "step[IDLE]"}) {
    if (starts_with(name, known.substr(0, known.size() - 1))) return known;
  }
  return "step[]";
}

AnnotationFacts parse_annotation(std::string_view name) {
  if (is_vllm_step(name)) return parse_vllm(name);
  if (starts_with(name, kSglangStep)) return parse_sglang(name);
  AnnotationFacts facts;
  if (starts_with(name, kProfilerStep)) facts.number = number_after(name, kProfilerStep);
  return facts;
}

}  // namespace teller
