"""The engine's own books: no tracer sees them, so a tracer's findings can be checked by them."""

from __future__ import annotations

from collections import Counter, defaultdict
from statistics import median

from examples.demo_engine.model import Batch
from examples.demo_engine.scheduler import Scheduler, ScheduleResult


class Ledger:
    """Counts, per request, what the engine did to it. Written by the engine's thread only."""

    def __init__(self) -> None:
        self.steps = 0
        self.waited: Counter[str] = Counter()
        """Steps in which a request had tokens to run and got none, for whatever reason."""
        self.passed_over: Counter[str] = Counter()
        """Those of them in which a seat, budget and blocks were left for it."""
        self.preempted: Counter[str] = Counter()
        self.preempted_dry: Counter[str] = Counter()
        """Preemptions in which not one block was free."""
        self.recomputed_tokens: Counter[str] = Counter()
        self.attention_ratios: defaultdict[str, list[float]] = defaultdict(list)
        """Per decode step, a request's time in attention over the median of the others' times."""

    def note_schedule(self, scheduler: Scheduler, result: ScheduleResult) -> None:
        """Books who ran, waited or was preempted; call it before anything is computed."""
        self.steps += 1
        for preemption in result.preempted:
            request_id = preemption.request.id
            self.preempted[request_id] += 1
            self.preempted_dry[request_id] += preemption.free_blocks == 0
            self.recomputed_tokens[request_id] += preemption.computed
        settled = set(result.tokens) | {preemption.request.id for preemption in result.preempted}
        for request in scheduler.waiting + scheduler.running:
            if request.id in settled:
                continue
            self.waited[request.id] += 1
            if (
                scheduler.has_seat_for(request)
                and result.budget_left > 0
                and scheduler.pool.free > 0
            ):
                self.passed_over[request.id] += 1

    def note_execution(self, batch: Batch) -> None:
        """Books the attention times of the step's decoding requests."""
        decoding = [part for part in batch.slices if part.count == 1]
        for part in decoding:
            others = [other.attention_ns for other in decoding if other is not part]
            if others:
                self.attention_ratios[part.request_id].append(part.attention_ns / median(others))

    def report(self) -> dict[str, object]:
        """Returns the books as plain data."""
        return {
            "steps": self.steps,
            "waited": dict(self.waited),
            "passed_over": dict(self.passed_over),
            "preempted": dict(self.preempted),
            "preempted_dry": dict(self.preempted_dry),
            "recomputed_tokens": dict(self.recomputed_tokens),
            "attention_ratio": {
                request_id: round(median(ratios), 2)
                for request_id, ratios in self.attention_ratios.items()
            },
        }
