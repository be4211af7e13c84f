"""Reads column files (docs/run_folder.md, "Column files") with numpy."""
from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

MAGIC = b"\x89TLRCO\r\n"
HEADER = struct.Struct("<8sHHIQQ")
ENTRY = struct.Struct("<24s24sIIQQQ")


class Columns:
    """The columns of one file, by table and name."""

    def __init__(self, path: Path):
        self.path = path
        self.data = path.read_bytes()
        magic, major, _, count, directory, _ = HEADER.unpack_from(self.data)
        if magic != MAGIC or major != 1:
            raise ValueError(f"reading {path}: no column file of version 1")
        self.entries = {}
        for i in range(count):
            table, name, width, _, length, offset, _ = ENTRY.unpack_from(self.data, directory + i * ENTRY.size)
            self.entries[table.rstrip(b"\0").decode(), name.rstrip(b"\0").decode()] = (width, length, offset)

    def get(self, table: str, name: str, dtype: str) -> np.ndarray:
        """A column; of elements that hold several values of `dtype`: one row each."""
        width, length, offset = self.entries[table, name]
        per_element = width // np.dtype(dtype).itemsize
        column = np.frombuffer(self.data, dtype=dtype, count=length * per_element, offset=offset)
        return column.reshape(length, per_element) if per_element > 1 else column

    def strings(self) -> "Strings":
        """The string table of chains.tcol."""
        return Strings(self.get("strings", "end", "<u8"), self.get("strings", "bytes", "u1").tobytes())


class Strings:
    """Strings by id, decoded when asked for."""

    def __init__(self, ends: np.ndarray, data: bytes):
        self.ends, self.data, self.known = ends, data, {}

    def __getitem__(self, number: int) -> str:
        if number not in self.known:
            begin = int(self.ends[number - 1]) if number else 0
            self.known[number] = self.data[begin:int(self.ends[number])].decode("utf-8", "replace")
        return self.known[number]
