#!/usr/bin/env python3
"""Writes a Kineto trace of any size, the same bytes for the same arguments: what import speed is measured on.

usage: make_kineto.py [--events N] [--seed S] [-o FILE]     (about 265 bytes an event)
"""
import argparse
import random
import sys

KERNELS = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, at::detail::Array<char*, 3>)",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off",
    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false>, false, true>",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "triton_poi_fused_add_mul_silu_3",
]
OPERATORS = ["aten::linear", "aten::add", "aten::mul", "aten::silu", "vllm::unified_attention", "aten::copy_",
             "c10d::allreduce_", "aten::empty", "aten::view", "aten::rms_norm"]
FUNCTIONS = ["vllm/model_executor/models/llama.py(%d): forward", "torch/nn/modules/module.py(%d): _call_impl",
             "vllm/v1/worker/gpu_model_runner.py(%d): execute_model", "nn.Module: RMSNorm_%d"]


def time_text(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def group(rng, at, ident):
    """One operator with its Python caller, launch, kernel and flow arrows: six events."""
    length = rng.randrange(4000, 40000)
    function = rng.choice(FUNCTIONS) % rng.randrange(200)
    operator = rng.choice(OPERATORS)
    start, dur = time_text(at), time_text(length)
    launch, device = time_text(at + 1500), time_text(at + length + rng.randrange(20000))
    rows = rng.choice([1, 32, 4096])
    yield (f'    "ph": "X", "cat": "python_function", "name": "{function}", "pid": 4211, "tid": 4211,\n'
           f'    "ts": {start}, "dur": {dur},\n'
           f'    "args": {{\n      "Python parent id": {ident}, "Python id": {ident + 1}, "Ev Idx": {ident}\n    }}')
    yield (f'    "ph": "X", "cat": "cpu_op", "name": "{operator}", "pid": 4211, "tid": 4211,\n'
           f'    "ts": {time_text(at + 400)}, "dur": {time_text(length - 900)},\n'
           f'    "args": {{\n      "External id": {ident},"Record function id": 0, "Concrete Inputs": ["", "", "1"], '
           f'"Input type": ["c10::BFloat16", "c10::BFloat16", "Scalar"], "Input Strides": [[4096, 1], [4096, 1], []], '
           f'"Input Dims": [[{rows}, 4096], [4096, 4096], []], "Ev Idx": {ident + 1}\n    }}')
    yield (f'    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 4211, "tid": 4211,\n'
           f'    "ts": {launch}, "dur": {time_text(rng.randrange(2000, 2400))},\n'
           f'    "args": {{\n      "External id": {ident}, "cbid": 211, "correlation": {ident}\n    }}')
    yield (f'    "ph": "s", "id": {ident}, "pid": 4211, "tid": 4211, "ts": {launch},\n'
           f'    "cat": "ac2g", "name": "ac2g"')
    yield (f'    "ph": "X", "cat": "kernel", "name": "{rng.choice(KERNELS)}", "pid": 0, "tid": 7,\n'
           f'    "ts": {device}, "dur": {time_text(rng.randrange(1000, 90000))},\n'
           f'    "args": {{\n      "External id": {ident}, "queued": 0, "device": 0, "context": 1, "stream": 7, '
           f'"correlation": {ident}, "registers per thread": 128, "shared memory": {rng.choice([0, 49152])}, '
           f'"blocks per SM": {rng.random() * 10:.6f}, "warps per SM": {rng.random() * 80:.6f}, '
           f'"grid": [{rows}, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": {rng.randrange(100)}\n    }}')
    yield (f'    "ph": "f", "id": {ident}, "pid": 0, "tid": 7, "ts": {device},\n'
           f'    "cat": "ac2g", "name": "ac2g", "bp": "e"')


def write(out, events, seed):
    rng = random.Random(seed)
    out.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [\n    {"id": 0, "name": "Made Up GPU"}\n  ],\n'
              '  "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},\n'
              '  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": 1751410836000000000,\n  "traceEvents": [\n')
    written, at, ident, first = 0, 1428625731456483, 1, True
    while written < events:
        for event in group(rng, at, ident):
            if written == events:
                break
            out.write(("" if first else ",\n") + "  {\n" + event + "\n  }")
            first = False
            written += 1
        at += rng.randrange(50000, 90000)
        ident += 2
    out.write('\n  ],\n  "traceName": "made.json"\n}\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-o", "--output", default="-")
    args = parser.parse_args()
    if args.output == "-":
        write(sys.stdout, args.events, args.seed)
    else:
        with open(args.output, "w", encoding="utf-8") as out:
            write(out, args.events, args.seed)


if __name__ == "__main__":
    main()
