"""The engine: a step schedules, runs the model, samples and updates, again while there is work."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field

import torch

from examples.demo_engine.attention import direct_attention
from examples.demo_engine.kv_cache import BlockPool
from examples.demo_engine.ledger import Ledger
from examples.demo_engine.model import KernelChoice, ModelConfig
from examples.demo_engine.request import Request
from examples.demo_engine.runner import ModelRunner
from examples.demo_engine.scheduler import Policy, Scheduler, SchedulerConfig, ScheduleResult

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class EngineConfig:
    """Sizes and limits of an engine."""

    model: ModelConfig = field(default_factory=ModelConfig)
    scheduler: SchedulerConfig = field(default_factory=SchedulerConfig)
    blocks: int = 256
    block_size: int = 16
    threads: int = 1
    log_every: int = 20
    """Steps between two status lines."""


class InvalidRequestError(ValueError):
    """A request that the engine cannot serve; the message says why."""


class EngineClosedError(RuntimeError):
    """The engine serves no more; the message says why."""


class Engine:
    """Serves requests. `add_request` may be called from any thread, everything else from one."""

    def __init__(
        self,
        config: EngineConfig | None = None,
        policy: Policy | None = None,
        choose_kernel: KernelChoice = lambda _: direct_attention,
    ) -> None:
        self.config = config or EngineConfig()
        torch.set_num_threads(self.config.threads)
        pool = BlockPool(self.config.blocks, self.config.block_size)
        self.scheduler = Scheduler(self.config.scheduler, pool, policy)
        self.runner = ModelRunner(
            self.config.model, self.config.blocks, self.config.block_size, choose_kernel
        )
        self.ledger = Ledger()
        self._inbox: list[Request] = []
        self.seen_ids: set[str] = set()
        """All ids that ever came."""
        self._arrivals = 0
        self._closed_because: str | None = None
        self._changed = threading.Condition()

    @property
    def has_work(self) -> bool:
        """Whether any request is unfinished."""
        return bool(self._inbox) or self.scheduler.has_work

    def add_request(self, request_id: str, prompt: list[int], max_tokens: int) -> Request:
        """Queues a request for the next step. [any thread]

        Raises:
            InvalidRequestError: It could never run, or its id is taken.
            EngineClosedError: The engine has stopped.
        """
        request = Request(request_id, prompt, max_tokens)
        self._check(request)
        with self._changed:
            if self._closed_because:
                raise EngineClosedError(self._closed_because)
            if request_id in self.seen_ids:
                raise InvalidRequestError(f"request id {request_id} was used before")
            self.seen_ids.add(request_id)
            request.arrival = self._arrivals
            self._arrivals += 1
            self._inbox.append(request)
            self._changed.notify()
        lengths = len(prompt), max_tokens
        logger.info("Received request %s: prompt %d tokens, max %d tokens", request_id, *lengths)
        return request

    def warm_up(self) -> None:
        """Pays first-use costs before any request is there."""
        self.runner.warm_up()

    def step(self) -> list[Request]:
        """Runs one step; returns the requests that it finished."""
        self._take_arrivals()
        result = self.scheduler.schedule()
        self.ledger.note_schedule(self.scheduler, result)
        next_tokens: list[int] = []
        if result.scheduled:
            batch = self.runner.prepare(result.scheduled)
            next_tokens = self.runner.sample(self.runner.execute(batch))
            self.ledger.note_execution(batch)
        finished = self.update(result, next_tokens)
        if self.scheduler.step_index % self.config.log_every == 0:
            self._log_status()
        return finished

    def update(self, result: ScheduleResult, next_tokens: list[int]) -> list[Request]:
        """Books what was computed, appends new tokens, and lets finished requests go."""
        finished = []
        for (request, count), token in zip(result.scheduled, next_tokens, strict=True):
            request.computed += count
            # In the middle of a prompt the next token is known: what was sampled means nothing.
            if request.remaining == 0:
                request.output.append(token)
            if request.is_finished:
                finished.append(request)
                self._finish(request)
        return finished

    def run_until(self, stop: threading.Event) -> None:
        """Steps while there is work, else waits, until `stop` is set and `wake` called."""
        try:
            while not stop.is_set():
                with self._changed:
                    self._changed.wait_for(lambda: stop.is_set() or self.has_work)
                if not stop.is_set():
                    self.step()
        except Exception:
            # The end of this thread is what the server sees; the log has the reason.
            logger.exception("Engine step failed")
            self._close("the engine failed")
            return
        self._close("the engine is shutting down")

    def wake(self) -> None:
        """Makes `run_until` look at its stop event. [any thread]"""
        with self._changed:
            self._changed.notify()

    def _check(self, request: Request) -> None:
        total = len(request.prompt) + request.max_tokens
        if not request.prompt or request.max_tokens < 1:
            raise InvalidRequestError("prompt and max_tokens must not be empty")
        limit = min(self.config.model.max_positions, self.config.blocks * self.config.block_size)
        if total > limit:
            raise InvalidRequestError(
                f"prompt and max_tokens need {total} tokens, the limit is {limit}"
            )
        if not all(0 <= token < self.config.model.vocabulary for token in request.prompt):
            raise InvalidRequestError("prompt has a token outside the vocabulary")

    def _take_arrivals(self) -> None:
        with self._changed:
            arrivals, self._inbox = self._inbox, []
        for request in arrivals:
            self.scheduler.add(request)

    def _finish(self, request: Request) -> None:
        self.scheduler.finish(request)
        logger.info("Finished request %s: %d tokens", request.id, len(request.output))
        request.done.set()

    def _close(self, reason: str) -> None:
        """Refuses new requests and tells those who still wait that no answer will come."""
        with self._changed:
            self._closed_because = reason
        self._take_arrivals()
        for request in self.scheduler.waiting + self.scheduler.running:
            request.error = reason
            request.done.set()

    def _log_status(self) -> None:
        pool = self.scheduler.pool
        logger.info(
            "step %d: running %d, waiting %d, kv %d/%d blocks",
            self.scheduler.step_index,
            len(self.scheduler.running),
            len(self.scheduler.waiting),
            pool.total - pool.free,
            pool.total,
        )
