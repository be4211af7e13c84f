"""vLLM in one process with a KV connector that keeps blocks in files: vllm_kv_transfer.py MODEL FOLDER. The same prompt twice."""
from __future__ import annotations

import sys


def main(model: str, folder: str) -> None:
    """The second request finds the blocks of the first one in the folder."""
    from vllm import LLM, SamplingParams
    from vllm.config import KVTransferConfig

    transfer = KVTransferConfig(kv_connector="ExampleConnector", kv_role="kv_both", kv_connector_extra_config={"shared_storage_path": folder})
    llm = LLM(model=model, enforce_eager=True, dtype="bfloat16", max_model_len=128, max_num_seqs=8, block_size=32,
              enable_prefix_caching=False, disable_log_stats=True, seed=0, kv_transfer_config=transfer)
    for _ in range(2):
        answers = llm.generate([{"prompt_token_ids": list(range(3, 80))}], SamplingParams(temperature=0, max_tokens=4, ignore_eos=True),
                               use_tqdm=False)
        print("TOKENS", list(answers[0].outputs[0].token_ids), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
