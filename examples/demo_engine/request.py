"""One user request and where it stands."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field


@dataclass(eq=False)
class Request:
    """A prompt to continue. Belongs to the engine's thread until `done` is set."""

    id: str
    prompt: list[int]
    max_tokens: int
    output: list[int] = field(default_factory=list)
    arrival: int = 0
    """Order of arrival: the engine serves older requests first."""
    computed: int = 0
    """Tokens whose keys and values are in the cache."""
    prefill_target: int = 0
    """`computed` below this: the request is (re)reading tokens that it already has."""
    block_table: list[int] = field(default_factory=list)
    preemptions: int = 0
    error: str | None = None
    done: threading.Event = field(default_factory=threading.Event)
    arrived_at: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.prefill_target = len(self.prompt)

    @property
    def length(self) -> int:
        """Tokens known so far, computed or not."""
        return len(self.prompt) + len(self.output)

    @property
    def remaining(self) -> int:
        """Tokens that could run now."""
        return self.length - self.computed

    @property
    def phase(self) -> str:
        """`prefill` while the prompt, or what a preemption threw away, is read; else `decode`."""
        return "prefill" if self.computed < self.prefill_target else "decode"

    @property
    def is_new(self) -> bool:
        """Whether nothing of it is in the cache: just admitted, or back from preemption."""
        return self.computed == 0

    @property
    def is_finished(self) -> bool:
        """Whether all tokens asked for are there."""
        return len(self.output) >= self.max_tokens

    def tokens(self, start: int, count: int) -> list[int]:
        """Returns `count` tokens of prompt and output, from position `start` on."""
        end = start + count
        prompt_length = len(self.prompt)
        if end <= prompt_length:
            return self.prompt[start:end]
        if start >= prompt_length:
            return self.output[start - prompt_length : end - prompt_length]
        return self.prompt[start:] + self.output[: end - prompt_length]

    def forget_computed(self) -> None:
        """Sets the request back to the start of its tokens, which must then be read again."""
        self.computed = 0
        self.prefill_target = self.length
        self.preemptions += 1
