"""vLLM in one process: vllm_generate.py MODEL REQUESTS."""
from __future__ import annotations

import os
import sys

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"


def main(model: str, requests: int) -> None:
    """Batches of 8 requests."""
    from handshake import measured
    from vllm import LLM, SamplingParams

    llm = LLM(model=model, enforce_eager=True, dtype="bfloat16", max_model_len=128, max_num_seqs=8, enable_prefix_caching=False,
              disable_log_stats=True, seed=0)
    prompts = [{"prompt_token_ids": [3 + (7 * k + i) % 250 for i in range(16)]} for k in range(requests)]
    sampling = SamplingParams(temperature=0, max_tokens=32, ignore_eos=True)

    def work() -> None:
        llm.generate(prompts, sampling, use_tqdm=False)

    work()
    measured(work)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
