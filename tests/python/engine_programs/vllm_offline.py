"""vLLM without a server, in one process: vllm_offline.py MODEL. Prints the tokens of every request as JSON.

The first round runs with a KV cache that is too small for all requests (preemption) and a small token budget (chunked
prefill); the second repeats a prompt (prefix cache).
"""
from __future__ import annotations

import json
import sys


def main(model: str) -> None:
    """Runs both rounds."""
    from vllm import LLM, SamplingParams

    llm = LLM(model=model, enforce_eager=True, dtype="bfloat16", max_model_len=128, max_num_batched_tokens=48, max_num_seqs=8,
              num_gpu_blocks_override=9, block_size=32, enable_prefix_caching=True, disable_log_stats=True, seed=0)
    prompts = [{"prompt_token_ids": [3 + (7 * k + i) % 250 for i in range(20 + 10 * (k % 4))]} for k in range(6)]
    first = llm.generate(prompts, SamplingParams(temperature=0, max_tokens=24, ignore_eos=True), use_tqdm=False)
    again = llm.generate([prompts[3]], SamplingParams(temperature=0, max_tokens=4, ignore_eos=True), use_tqdm=False)
    rows = [{"id": out.request_id, "prompt": len(out.prompt_token_ids), "cached": out.num_cached_tokens,
             "tokens": list(out.outputs[0].token_ids)} for out in [*first, *again]]
    print("RESULT " + json.dumps(rows), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
