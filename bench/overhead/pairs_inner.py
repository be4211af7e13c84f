"""One process of pairs.py: pairs_inner.py CASE ROUNDS. Prints JSON: for each measure the nanoseconds of every round.

A round is a loop of 2,000 operations. What the loop itself or the bare call costs is measured beside it, and the least that was
seen of it is taken off: a disturbed round then looks too dear, never too cheap. After each loop there is a pause, so that a
recorder can empty its ring.
"""
from __future__ import annotations

import functools
import json
import sys
import time
from collections.abc import Callable

import measured

OPERATIONS = 2000
PAUSE_S = 0.012


def loop(function: Callable) -> float:
    """Nanoseconds for a call of `function`, the loop included."""
    begin = time.perf_counter_ns()
    for _ in range(OPERATIONS):
        function()
    return (time.perf_counter_ns() - begin) / OPERATIONS


def pair_loop(push: Callable, pop: Callable) -> float:
    """Nanoseconds for push() and pop(), the loop included."""
    begin = time.perf_counter_ns()
    for _ in range(OPERATIONS):
        push()
        pop()
    return (time.perf_counter_ns() - begin) / OPERATIONS


def empty_loop() -> float:
    """Nanoseconds of the loop alone."""
    begin = time.perf_counter_ns()
    for _ in range(OPERATIONS):
        pass
    return (time.perf_counter_ns() - begin) / OPERATIONS


class Without:
    """What `measure` costs without the thing that is measured: the least of all rounds."""

    def __init__(self, measure: Callable) -> None:
        self.measure = measure
        self.least = min(measure() for _ in range(20))

    def taken_off(self, nanoseconds: float) -> float:
        """The rest."""
        self.least = min(self.least, self.measure())
        return nanoseconds - self.least


def bare() -> Without:
    """The call of a function that is not touched."""
    return Without(lambda: loop(measured.bare))


def teller_cases() -> dict:
    """Under `teller trace --hooks`."""
    from teller_hooks import bridge

    pair = bridge.Range(bridge.FRONT_END, b"a range of usual length")
    empty, call = Without(empty_loop), bare()
    return {"pair": lambda: empty.taken_off(pair_loop(pair.push, bridge.pop)),
            "wrapped call": lambda: call.taken_off(loop(measured.wrapped))}


def nvtx_cases() -> dict:
    """The nvtx package; nobody listens."""
    import nvtx

    push = functools.partial(nvtx.push_range, "a range of usual length")
    empty = Without(empty_loop)
    return {"pair": lambda: empty.taken_off(pair_loop(push, nvtx.pop_range))}


def record_function_cases() -> dict:
    """torch.profiler.record_function; no profiler runs."""
    import torch

    def once() -> None:
        with torch.profiler.record_function("a range of usual length"):
            pass

    call = bare()
    return {"pair": lambda: call.taken_off(loop(once))}


def viztracer_cases() -> dict:
    """A function that VizTracer records: its call and its return."""
    from viztracer import VizTracer

    tracer = VizTracer(verbose=0, tracer_entries=10_000_000)

    call = bare()

    def once() -> float:
        tracer.start()
        traced = loop(measured.bare)
        tracer.stop()
        tracer.clear()
        return call.taken_off(traced)

    return {"traced call": once}


def plain_cases() -> dict:
    """A wrapper in Python that does nothing: what none can be cheaper than."""

    @functools.wraps(measured.bare)
    def wrapper(*args: object, **kwargs: object) -> object:
        return measured.bare(*args, **kwargs)

    call = bare()
    return {"wrapped call": lambda: call.taken_off(loop(wrapper))}


CASES = {"teller": teller_cases, "nvtx": nvtx_cases, "record_function": record_function_cases, "viztracer": viztracer_cases,
         "plain wrapper": plain_cases}


def main() -> None:
    """Runs one case."""
    measures = CASES[sys.argv[1]]()
    values: dict = {name: [] for name in measures}
    for _ in range(int(sys.argv[2])):
        for name, measure in measures.items():
            values[name].append(measure())
            time.sleep(PAUSE_S)
    print(json.dumps(values))


if __name__ == "__main__":
    main()
