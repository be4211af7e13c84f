"""Paged KV cache: who holds which block, and the tensors behind the blocks."""

from __future__ import annotations

import torch


class BlockPool:
    """Hands out fixed-size blocks by number; knows nothing of tensors or requests."""

    def __init__(self, total: int, block_size: int) -> None:
        self.total = total
        self.block_size = block_size
        self._free = list(range(total - 1, -1, -1))
        self._pinned: list[int] = []

    @property
    def free(self) -> int:
        """Blocks that nobody holds."""
        return len(self._free)

    def blocks_for(self, tokens: int) -> int:
        """Returns how many blocks hold `tokens` tokens."""
        return -(-tokens // self.block_size)

    def grow(self, table: list[int], tokens: int) -> bool:
        """Extends `table` to hold `tokens` tokens; leaves it alone if too few blocks are free."""
        missing = self.blocks_for(tokens) - len(table)
        if missing > self.free:
            return False
        for _ in range(missing):
            table.append(self._free.pop())
        return True

    def release(self, table: list[int]) -> None:
        """Takes all blocks of `table` back and empties it."""
        self._free.extend(reversed(table))
        table.clear()

    def pin(self, count: int) -> None:
        """Sets up to `count` free blocks aside, so that no request gets them."""
        for _ in range(min(count, self.free)):
            self._pinned.append(self._free.pop())

    def unpin(self) -> None:
        """Gives the blocks set aside back."""
        self.release(self._pinned)


class KvStore:
    """Keys and values of all layers, in blocks; a slot is `block * block_size + offset`."""

    def __init__(
        self, layers: int, blocks: int, block_size: int, width: int, dtype: torch.dtype
    ) -> None:
        shape = (layers, blocks, block_size, width)
        self.block_size = block_size
        self.keys = torch.zeros(shape, dtype=dtype)
        self.values = torch.zeros(shape, dtype=dtype)

    def write(
        self, layer: int, slots: torch.Tensor, keys: torch.Tensor, values: torch.Tensor
    ) -> None:
        """Stores one row of keys and one of values per slot."""
        width = keys.shape[-1]
        self.keys[layer].view(-1, width).index_copy_(0, slots, keys)
        self.values[layer].view(-1, width).index_copy_(0, slots, values)

    def gather(
        self, layer: int, block_ids: torch.Tensor, length: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns the first `length` rows of keys and of values in these blocks."""
        width = self.keys.shape[-1]
        keys = self.keys[layer][block_ids].view(-1, width)[:length]
        values = self.values[layer][block_ids].view(-1, width)[:length]
        return keys, values
