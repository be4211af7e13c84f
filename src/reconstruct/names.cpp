// What names tell: family, request, collective, engine annotation.
#include <algorithm>
#include <initializer_list>

#include "reconstruct/annotation.h"
#include "reconstruct/call_names.h"
#include "reconstruct/family.h"
#include "reconstruct/passes.h"

namespace teller {

namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
  });
}

// Collectives and point-to-point operations of NCCL, RCCL, gloo and c10d, and the all-reduce
// kernels that engines bring themselves.
bool is_collective(std::string_view name) {
  return starts_with_any(name, {"nccl", "rccl", "gloo:", "mscclKernel", "c10d::",
                                "_c10d_functional::", "record_param_comms", "deep_ep::"}) ||
         contains_any(name,
                      {"ncclDevKernel", "ncclKernel", "rcclGenericKernel", "cross_device_reduce",
                       "twoshotAllreduceKernel", "allreduce_fusion_kernel", "multimem_all_reduce",
                       "one_shot_all_reduce"});
}

// Operators in NVTX ranges of torch.autograd.profiler.emit_nvtx carry no category.
bool is_operator_name(std::string_view name) {
  return starts_with_any(name, {"aten::", "c10d::", "autograd::engine"}) ||
         contains_any(name, {", op_id = ", ", seq = "});
}

}  // namespace

const NameFacts& name_facts(Workspace& work, std::uint16_t source_index, StringId name) {
  Source& source = work.sources[source_index];
  if (name >= source.names.strings()) name = 0;
  NameFacts& facts = source.names[name];
  if (facts.known) return facts;
  std::string_view text = source.file.string(name);
  facts.known = true;
  facts.name = work.chains.strings.intern(text);
  facts.family = work.chains.strings.intern(family_of(text));
  facts.collective = is_collective(text);
  facts.operator_name = is_operator_name(text);
  facts.annotation = is_step_annotation(text);
  facts.graph_launch = contains_any(text, {"GraphLaunch"});
  facts.call = call_facts(text);
  // Ids of spans may be spelt in another way than those of the engine: see join_requests().
  if (source.dialect != kSpanDialect) facts.request = work.request(split_request(text));
  return facts;
}

}  // namespace teller
