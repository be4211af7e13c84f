"""Transformers' generate: hf_generate.py MODEL. Prints the tokens."""
from __future__ import annotations

import sys

import torch
from transformers import AutoModelForCausalLM


def main(folder: str) -> None:
    """Two calls, greedy."""
    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    for length in (4, 9):
        prompt = torch.arange(3, 3 + length).unsqueeze(0)
        print("TOKENS", model.generate(prompt, max_new_tokens=5, do_sample=False, eos_token_id=None, pad_token_id=0).tolist())


if __name__ == "__main__":
    main(sys.argv[1])
