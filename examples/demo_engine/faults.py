"""The switch: `DEMO_FAULT` gives the engine a defect that hits the request `DEMO_REQUEST`.

Each defect is a mechanism inside the engine. Nothing that the engine prints or that the hooks see
tells which one is on, or that one is: it has to be found by what it does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from examples.demo_engine.attention import AttentionKernel, direct_attention, tiled_attention
from examples.demo_engine.kv_cache import BlockPool
from examples.demo_engine.model import KernelChoice
from examples.demo_engine.request import Request
from examples.demo_engine.scheduler import Policy, Scheduler

FAULTS = ("none", "starve", "slow-op", "memory")


class BadSwitchError(ValueError):
    """The environment asks for something that is not there; the message says what."""


@dataclass(frozen=True)
class Switch:
    """The choice made."""

    fault: str = "none"
    request_id: str = ""


class DebtPolicy(Policy):
    """Scheduling by credit gone wrong: one request is charged for turns that it never had.

    Once it has decoded a little, it owes `debt` turns, and pays when it could run beside others.
    """

    def __init__(self, request_id: str, debt: int = 32, charged_after: int = 6) -> None:
        self._request_id = request_id
        self._debt = debt
        self._charged_after = charged_after

    def may_run(self, request: Request, scheduler: Scheduler) -> bool:
        """Refuses the indebted request its turn, unless nobody else is there to have it."""
        if request.id != self._request_id or len(request.output) < self._charged_after:
            return True
        if self._debt == 0 or len(scheduler.running) < 2 or scheduler.pool.free == 0:
            return True
        self._debt -= 1
        return False


class PinningPolicy(Policy):
    """A second user of the pool takes too much: it pins all that is free when one is due.

    The others are served first and have their blocks. So it is this request that finds none, is
    preempted, waits until the pins are gone, and starts again.
    """

    def __init__(self, request_id: str, after_tokens: int = 3, hold_steps: int = 4) -> None:
        self._request_id = request_id
        self._after_tokens = after_tokens
        self._hold_steps = hold_steps
        self._held = 0

    def rank(self, request: Request) -> tuple[int, int]:
        """Puts the request behind all others."""
        return (int(request.id == self._request_id), request.arrival)

    def begin_step(self, scheduler: Scheduler) -> None:
        """Lets go of last step's pins, so that the others can grow."""
        scheduler.pool.unpin()

    def before_growth(self, request: Request, pool: BlockPool) -> None:
        """Takes the rest of the pool when the request's turn comes."""
        if request.id == self._request_id and self._wants_pool(request):
            pool.pin(pool.free)

    def _wants_pool(self, request: Request) -> bool:
        if request.computed > 0:
            self._held = 0
            return request.computed >= request.prefill_target + self._after_tokens
        self._held += 1
        return request.preemptions > 0 and self._held <= self._hold_steps


def read_switch(environment: Mapping[str, str]) -> Switch:
    """Reads the two variables.

    Raises:
        BadSwitchError: They make no sense.
    """
    fault = environment.get("DEMO_FAULT", "") or "none"
    if fault not in FAULTS:
        raise BadSwitchError(f"DEMO_FAULT={fault}: must be one of {', '.join(FAULTS)}")
    if fault == "none":
        return Switch()
    request_id = environment.get("DEMO_REQUEST", "")
    if not re.fullmatch(r"\S+", request_id):
        raise BadSwitchError(
            f"DEMO_REQUEST={request_id}: DEMO_FAULT={fault} needs an id such as req-3"
        )
    return Switch(fault, request_id)


def make_policy(switch: Switch) -> Policy:
    """Returns the scheduling policy to use."""
    policies: dict[str, Callable[[str], Policy]] = {"starve": DebtPolicy, "memory": PinningPolicy}
    make = policies.get(switch.fault)
    return make(switch.request_id) if make else Policy()


def make_kernel_choice(switch: Switch) -> KernelChoice:
    """Returns the choice of attention kernels to use."""

    def choose(request_id: str) -> AttentionKernel:
        hit = switch.fault == "slow-op" and request_id == switch.request_id
        return tiled_attention if hit else direct_attention

    return choose
