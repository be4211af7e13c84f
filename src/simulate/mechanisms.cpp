#include "simulate/mechanisms.h"

#include <algorithm>
#include <array>

namespace teller::simulate {

namespace {

using enum FaultType;
constexpr std::array kMechanisms = {
    MechanismInfo{Mechanism::kKvPinned, "kv_pinned", kMemory, "kv pool", "demo vllm-v1",
                  "a second user pins the free KV blocks when one request is due: it is preempted, "
                  "waits and recomputes"},
    MechanismInfo{Mechanism::kKvLeak, "kv_leak", kMemory, "kv blocks of finished requests",
                  "demo vllm-v1",
                  "blocks of finished requests are not all returned: the pool runs short for all"},
    MechanismInfo{Mechanism::kAllocatorRetry, "allocator_retry", kMemory, "device memory", "fsdp",
                  "device memory is nearly full: the allocator frees and allocates in steady "
                  "steps, each time with a device synchronisation"},
    MechanismInfo{Mechanism::kSlowAttention, "slow_attention", kCudaKernel, "attention kernel",
                  "demo vllm-v1", "the attention of one request takes a slow kernel"},
    MechanismInfo{Mechanism::kSlowGemm, "slow_gemm", kCudaKernel, "gemm kernel",
                  "demo vllm-v1 fsdp", "one matrix product takes a badly chosen kernel"},
    MechanismInfo{Mechanism::kWrongKernel, "wrong_kernel", kCudaKernel, "kernel selection",
                  "vllm-v1", "decoding is sent to another attention kernel, about as fast"},
    MechanismInfo{Mechanism::kCreditStarvation, "credit_starvation", kScheduling,
                  "scheduler credit", "demo vllm-v1",
                  "one request is passed over for a stretch although it could run"},
    MechanismInfo{Mechanism::kLifoAdmission, "lifo_admission", kScheduling, "scheduler queue",
                  "demo vllm-v1", "the newest requests are served first, so that old ones starve"},
    MechanismInfo{Mechanism::kGcPause, "gc_pause", kScheduling, "host thread of a rank", "fsdp",
                  "garbage collection holds one rank's host"},
    MechanismInfo{Mechanism::kDataStall, "data_stall", kScheduling, "data loader", "fsdp",
                  "one rank waits for its data"},
    MechanismInfo{Mechanism::kClockCap, "clock_cap", kRuntimeDriver, "device clock", "vllm-v1 fsdp",
                  "a device runs at a lower clock"},
    MechanismInfo{Mechanism::kBlockingCall, "blocking_call", kRuntimeDriver, "runtime call",
                  "vllm-v1 fsdp", "a runtime call blocks inside a step"},
    MechanismInfo{Mechanism::kSlowLink, "slow_link", kCommunication, "link", "fsdp",
                  "the link between ranks is slow: collectives take longer to transfer"},
    MechanismInfo{Mechanism::kFlakyLink, "flaky_link", kCommunication, "link retransmits", "fsdp",
                  "single collectives stall while the link sends again"},
    MechanismInfo{Mechanism::kMissingCollective, "missing_collective", kCommunication,
                  "protocol between ranks", "fsdp",
                  "one rank leaves out a collective: the others wait for it for ever"},
};

}  // namespace

std::span<const MechanismInfo> all_mechanisms() {
  return kMechanisms;
}

const MechanismInfo* find_mechanism(std::string_view name) {
  for (const MechanismInfo& mechanism : kMechanisms) {
    if (mechanism.name == name) return &mechanism;
  }
  return nullptr;
}

bool has_stack(const MechanismInfo& mechanism, std::string_view stack) {
  std::string_view rest = mechanism.stacks;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == stack) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace teller::simulate
