"""A small transformer with random weights: tokens share its layers, attention is per request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from examples.demo_engine.attention import AttentionKernel, direct_attention
from examples.demo_engine.kv_cache import KvStore

KernelChoice = Callable[[str], AttentionKernel]
"""Request id -> the kernel that its attention uses."""


@dataclass(frozen=True)
class ModelConfig:
    """Sizes; the defaults make a step cost some ten milliseconds on one core."""

    vocabulary: int = 256
    width: int = 384
    layers: int = 4
    heads: int = 8
    max_positions: int = 1024
    seed: int = 0
    dtype: torch.dtype = torch.float32


@dataclass
class SequenceSlice:
    """The tokens that one request runs in a step, and the rows that they take in the batch."""

    request_id: str
    start: int
    rows: slice
    block_ids: torch.Tensor
    attention_ns: int = 0
    """Time spent in attention, for the engine's own ledger."""

    @property
    def count(self) -> int:
        """Tokens in this step."""
        return self.rows.stop - self.rows.start

    @property
    def context(self) -> int:
        """Tokens to attend over, those of this step included."""
        return self.start + self.count


@dataclass
class Batch:
    """What one step runs: the tokens of all its requests, one after another."""

    token_ids: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor
    slices: list[SequenceSlice]


class Attention(nn.Module):
    """Reads and writes the KV cache of one layer."""

    def __init__(self, config: ModelConfig, layer: int, choose_kernel: KernelChoice) -> None:
        super().__init__()
        self.layer = layer
        self.heads = config.heads
        self.qkv = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)
        self._choose_kernel = choose_kernel

    def project_qkv(self, hidden: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Returns queries, keys and values of all tokens of the step."""
        return self.qkv(hidden).chunk(3, dim=-1)

    def write_kv(
        self, store: KvStore, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> None:
        """Puts the new tokens' keys and values into the cache."""
        store.write(self.layer, slots, keys, values)

    def attend(
        self, request_id: str, queries: torch.Tensor, store: KvStore, part: SequenceSlice
    ) -> torch.Tensor:
        """Computes attention for one request's tokens."""
        keys, values = store.gather(self.layer, part.block_ids, part.context)
        kernel = self._choose_kernel(request_id)
        return kernel(self._split(queries), self._split(keys), self._split(values), part.start)

    def project_out(self, mixed: torch.Tensor) -> torch.Tensor:
        """Returns what attention adds to the hidden states of all tokens."""
        return self.out(mixed)

    def forward(self, hidden: torch.Tensor, batch: Batch, store: KvStore) -> torch.Tensor:
        """Runs the layer's attention for all requests of the step."""
        queries, keys, values = self.project_qkv(hidden)
        self.write_kv(store, batch.slots, keys, values)
        mixed = torch.empty_like(hidden)
        for part in batch.slices:
            begin = time.perf_counter_ns()
            mixed[part.rows] = self.attend(part.request_id, queries[part.rows], store, part)
            part.attention_ns += time.perf_counter_ns() - begin
        return self.project_out(mixed)

    def _split(self, rows: torch.Tensor) -> torch.Tensor:
        return rows.unflatten(-1, (self.heads, -1))


class Mlp(nn.Module):
    """The feed-forward part of a layer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.width, 4 * config.width)
        self.down = nn.Linear(4 * config.width, config.width)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Runs all tokens of the step at once."""
        return self.down(nn.functional.gelu(self.up(hidden)))


class Layer(nn.Module):
    """Attention and MLP, each with its norm and residual."""

    def __init__(self, config: ModelConfig, index: int, choose_kernel: KernelChoice) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(config.width)
        self.attention = Attention(config, index, choose_kernel)
        self.mlp_norm = nn.LayerNorm(config.width)
        self.mlp = Mlp(config)

    def forward(self, hidden: torch.Tensor, batch: Batch, store: KvStore) -> torch.Tensor:
        """Returns the hidden states after this layer."""
        hidden = hidden + self.attention(self.attention_norm(hidden), batch, store)
        return hidden + self.mlp(self.mlp_norm(hidden))


class Transformer(nn.Module):
    """Embedding, layers, and logits for the last token of each request."""

    def __init__(
        self, config: ModelConfig, choose_kernel: KernelChoice = lambda _: direct_attention
    ) -> None:
        super().__init__()
        self.config = config
        # Weights depend on the seed alone, and the caller's random state stays as it was.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.tokens = nn.Embedding(config.vocabulary, config.width)
            self.positions = nn.Embedding(config.max_positions, config.width)
            self.layers = nn.ModuleList(
                Layer(config, index, choose_kernel) for index in range(config.layers)
            )
            self.norm = nn.LayerNorm(config.width)
            self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.to(config.dtype)

    def embed(self, batch: Batch) -> torch.Tensor:
        """Returns the input states of all tokens."""
        return self.tokens(batch.token_ids) + self.positions(batch.positions)

    def compute_logits(self, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """Returns one row of logits per request, for its last token in this step."""
        last_rows = [part.rows.stop - 1 for part in batch.slices]
        return self.head(self.norm(hidden[last_rows]))

    def forward(self, batch: Batch, store: KvStore) -> torch.Tensor:
        """Runs one step of the model."""
        hidden = self.embed(batch)
        for layer in self.layers:
            hidden = layer(hidden, batch, store)
        return self.compute_logits(hidden, batch)
