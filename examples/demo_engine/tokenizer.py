"""Bytes as tokens: the smallest vocabulary that reads every text."""

from __future__ import annotations


def encode(text: str) -> list[int]:
    """Returns the text's UTF-8 bytes."""
    return list(text.encode("utf-8"))


def decode(tokens: list[int]) -> str:
    """Returns the text that these bytes spell; what is not UTF-8 becomes a replacement mark."""
    return bytes(tokens).decode("utf-8", errors="replace")
