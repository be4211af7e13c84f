"""Decides, step by step, who runs how many tokens, and who loses its blocks when none is free."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from functools import cached_property

from examples.demo_engine.kv_cache import BlockPool
from examples.demo_engine.request import Request

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class SchedulerConfig:
    """Limits of one step."""

    max_seqs: int = 8
    token_budget: int = 160
    max_chunk: int = 64
    """Prompt tokens of one request in a step: a limit keeps the pace of those that decode."""


@dataclass(frozen=True)
class Preemption:
    """A request that lost its blocks, the tokens it held, and the blocks free just before."""

    request: Request
    computed: int
    free_blocks: int


@dataclass
class ScheduleResult:
    """The plan for one step."""

    scheduled: list[tuple[Request, int]] = field(default_factory=list)
    preempted: list[Preemption] = field(default_factory=list)
    budget_left: int = 0

    def has_preempted(self, request: Request) -> bool:
        """Whether the request lost its blocks in this step; then it has to wait for the next."""
        return any(preemption.request is request for preemption in self.preempted)

    @property
    def total_tokens(self) -> int:
        """Tokens that run in this step."""
        return sum(count for _, count in self.scheduled)

    @cached_property
    def tokens(self) -> dict[str, int]:
        """Tokens of each request that runs. To be read when the plan is complete, not before."""
        return {request.id: count for request, count in self.scheduled}


class Policy:
    """First come, first served. Subclasses change the order or who gets a turn."""

    def rank(self, request: Request) -> tuple[int, int]:
        """Returns the sort key: the lowest is served first and preempted last."""
        return (0, request.arrival)

    def begin_step(self, scheduler: Scheduler) -> None:
        """Is called before anyone is served."""

    def may_run(self, request: Request, scheduler: Scheduler) -> bool:
        """Whether a request that could run gets its turn in this step."""
        return True

    def before_growth(self, request: Request, pool: BlockPool) -> None:
        """Is called before a request's block table grows."""


class Scheduler:
    """Continuous batching with chunked prefill. Used by the engine's thread only."""

    def __init__(
        self, config: SchedulerConfig, pool: BlockPool, policy: Policy | None = None
    ) -> None:
        self.config = config
        self.pool = pool
        self.policy = policy or Policy()
        self.waiting: list[Request] = []
        self.running: list[Request] = []
        self.step_index = 0

    @property
    def has_work(self) -> bool:
        """Whether any request is unfinished."""
        return bool(self.waiting or self.running)

    def has_seat_for(self, request: Request) -> bool:
        """Whether the request runs already or could be let in."""
        return request in self.running or len(self.running) < self.config.max_seqs

    def add(self, request: Request) -> None:
        """Queues a request."""
        self.waiting.append(request)

    def schedule(self) -> ScheduleResult:
        """Plans the next step and hands out the blocks that it needs."""
        self.step_index += 1
        result = ScheduleResult(budget_left=self.config.token_budget)
        self.policy.begin_step(self)
        for request in sorted(self.running + self.waiting, key=self.policy.rank):
            self._serve(request, result)
        return result

    def finish(self, request: Request) -> None:
        """Takes a finished request out and its blocks back."""
        self.running.remove(request)
        self.pool.release(request.block_table)

    def _serve(self, request: Request, result: ScheduleResult) -> None:
        if not self.has_seat_for(request) or result.has_preempted(request):
            return
        count = min(request.remaining, result.budget_left, self.config.max_chunk)
        if count == 0 or not self.policy.may_run(request, self):
            return
        self.policy.before_growth(request, self.pool)
        if not self._make_room(request, request.computed + count, result):
            return
        if request in self.waiting:
            self.waiting.remove(request)
            self.running.append(request)
        result.scheduled.append((request, count))
        result.budget_left -= count

    def _make_room(self, request: Request, tokens: int, result: ScheduleResult) -> bool:
        """Grows the request's table, at the cost of lower-ranked ones where no block is free."""
        while not self.pool.grow(request.block_table, tokens):
            if request not in self.running:
                return False
            # Requests are served in rank order: the last in rank can't be in the plan yet.
            victim = max(self.running, key=self.policy.rank)
            self._preempt(victim, result)
            if victim is request:
                return False
        return True

    def _preempt(self, victim: Request, result: ScheduleResult) -> None:
        logger.warning(
            "Preempting request %s: no free KV block (%d/%d free), it held %d",
            victim.id,
            self.pool.free,
            self.pool.total,
            len(victim.block_table),
        )
        result.preempted.append(Preemption(victim, victim.computed, self.pool.free))
        self.running.remove(victim)
        self.waiting.append(victim)
        self.pool.release(victim.block_table)
        victim.forget_computed()
