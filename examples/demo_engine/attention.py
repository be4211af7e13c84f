"""Causal attention of one request's new tokens over its context: two kernels, equal results."""

from __future__ import annotations

from collections.abc import Callable

import torch

AttentionKernel = Callable[[torch.Tensor, torch.Tensor, torch.Tensor, int], torch.Tensor]
"""(queries, keys, values, start) -> output. Tensors are [tokens, heads, head width], and the first
query is the token at position `start`."""


def direct_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: int
) -> torch.Tensor:
    """Computes all scores at once."""
    count, _, width = queries.shape
    scores = torch.matmul(queries.transpose(0, 1), keys.permute(1, 2, 0)) * width**-0.5
    if count > 1:
        scores = _mask_future(scores, start, 0)
    mixed = torch.matmul(torch.softmax(scores, dim=-1), values.transpose(0, 1))
    return mixed.transpose(0, 1).reshape(count, -1)


def tiled_attention(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: int, tile: int = 8
) -> torch.Tensor:
    """Computes in double precision, tile by tile, with a running softmax over the keys."""
    wide = queries.double(), keys.double(), values.double()
    tiles = [
        _attend_tile(wide[0][first : first + tile], wide[1], wide[2], start + first)
        for first in range(0, queries.shape[0], tile)
    ]
    return torch.cat(tiles).to(queries.dtype)


def _attend_tile(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, start: int, stride: int = 12
) -> torch.Tensor:
    count, heads, width = queries.shape
    queries = queries.transpose(0, 1)
    highest = torch.full((heads, count, 1), float("-inf"), dtype=queries.dtype)
    total = torch.zeros_like(highest)
    mixed = torch.zeros_like(queries)
    for first in range(0, keys.shape[0], stride):
        scores = torch.matmul(queries, keys[first : first + stride].permute(1, 2, 0)) * width**-0.5
        if first + stride > start:
            scores = _mask_future(scores, start, first)
        new_highest = torch.maximum(highest, scores.amax(dim=-1, keepdim=True))
        fade = torch.exp(highest - new_highest)
        weights = torch.exp(scores - new_highest)
        total = total * fade + weights.sum(dim=-1, keepdim=True)
        part = torch.matmul(weights, values[first : first + stride].transpose(0, 1))
        mixed = mixed * fade + part
        highest = new_highest
    return (mixed / total).transpose(0, 1).reshape(count, -1)


def _mask_future(scores: torch.Tensor, start: int, first_key: int) -> torch.Tensor:
    """Hides keys that come after their query; `scores` is [heads, queries, keys]."""
    key_positions = torch.arange(first_key, first_key + scores.shape[-1])
    query_positions = torch.arange(start, start + scores.shape[-2])
    return scores.masked_fill(key_positions > query_positions[:, None], float("-inf"))
