"""Turns a plan into tensors, runs the model on them, and picks the next tokens."""

from __future__ import annotations

import torch

from examples.demo_engine.kv_cache import KvStore
from examples.demo_engine.model import Batch, KernelChoice, ModelConfig, SequenceSlice, Transformer
from examples.demo_engine.request import Request


class ModelRunner:
    """Owns the model and the cache's tensors."""

    def __init__(
        self, config: ModelConfig, blocks: int, block_size: int, choose_kernel: KernelChoice
    ) -> None:
        self.block_size = block_size
        self.model = Transformer(config, choose_kernel)
        self.store = KvStore(config.layers, blocks, block_size, config.width, config.dtype)

    def prepare(self, scheduled: list[tuple[Request, int]]) -> Batch:
        """Lays the tokens of all scheduled requests out in one batch."""
        token_ids: list[int] = []
        positions: list[int] = []
        slots: list[int] = []
        slices: list[SequenceSlice] = []
        for request, count in scheduled:
            first_row = len(token_ids)
            span = range(request.computed, request.computed + count)
            token_ids += request.tokens(request.computed, count)
            positions += span
            slots += [self._slot(request.block_table, position) for position in span]
            slices.append(
                SequenceSlice(
                    request_id=request.id,
                    start=request.computed,
                    rows=slice(first_row, first_row + count),
                    block_ids=torch.tensor(request.block_table),
                )
            )
        return Batch(torch.tensor(token_ids), torch.tensor(positions), torch.tensor(slots), slices)

    @torch.inference_mode()
    def execute(self, batch: Batch) -> torch.Tensor:
        """Runs the model; returns one row of logits per request."""
        return self.model(batch, self.store)

    def sample(self, logits: torch.Tensor) -> list[int]:
        """Picks the likeliest token of each request."""
        return logits.argmax(dim=-1).tolist()

    def warm_up(self, rounds: int = 3) -> None:
        """Runs dummy batches, so that first-use costs fall before the first step, not inside it."""
        tokens = min(64, self.block_size * self.store.keys.shape[1])
        dummy = Request("warmup", prompt=[0] * tokens, max_tokens=1)
        dummy.block_table = list(range(-(-tokens // self.block_size)))
        for _ in range(rounds):
            dummy.computed = 0
            self.sample(self.execute(self.prepare([(dummy, tokens - 1)])))
            dummy.computed = tokens - 1
            self.sample(self.execute(self.prepare([(dummy, 1)])))

    def _slot(self, block_table: list[int], position: int) -> int:
        return (
            block_table[position // self.block_size] * self.block_size + position % self.block_size
        )
