#!/usr/bin/env python3
"""What the step record of vLLM V1 costs the scheduler, by the number of requests, in microseconds.

usage: bench/overhead/records.py [--json]

The real expressions of python_hooks/targets/vllm_v1.json on stand-ins for the scheduler and its requests; the text is made and goes nowhere.
`changed`: requests come and go, so that the waiting ones are listed anew; `same`: as in most steps, they are not. Printed are median and best
of 200.
"""
from __future__ import annotations

import _imp
import enum
import itertools
import json
import statistics
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import SimpleNamespace
from typing import Callable

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python_hooks"))
from teller_hooks import bridge, record  # noqa: E402
from teller_hooks.targets import Target  # noqa: E402

SIZES = ((8, 0), (64, 0), (256, 0), (256, 1000))
REPEATS = 200
EXTENSION = ROOT / "build/dev/preload/teller_native.abi3.so"


class Status(enum.IntEnum):
    """As vllm.v1.request.RequestStatus."""

    WAITING = 1
    RUNNING = 2


class Request:
    """The attributes that the expressions read."""

    num_computed_tokens, num_prompt_tokens, num_output_placeholders, max_tokens = 100, 50, 0, 100

    def __init__(self, name: str, status: Status) -> None:
        self.request_id, self.status = name, status
        self._all_token_ids = [0] * 101

    @property
    def num_tokens(self) -> int:
        """As in vLLM, a property."""
        return len(self._all_token_ids)


def scheduler_of(running: int, waiting: int) -> tuple:
    """(scheduler, what schedule() returned)."""
    requests = {}
    for number in range(running + waiting):
        name = f"cmpl-{number:032x}-0-abcdef01"
        requests[name] = Request(name, Status.RUNNING if number < running else Status.WAITING)
    pool = SimpleNamespace(free_block_queue=SimpleNamespace(num_free_blocks=3), num_gpu_blocks=9)
    scheduler = SimpleNamespace(
        requests=requests, running=list(requests.values())[:running], waiting=[None] * waiting, skipped_waiting=[], current_step=1,
        kv_cache_manager=SimpleNamespace(block_pool=pool), max_num_scheduled_tokens=2048, max_num_running_reqs=256,
        parallel_config=SimpleNamespace(data_parallel_size=1))
    output = SimpleNamespace(num_scheduled_tokens=dict.fromkeys(list(requests)[:running], 1), total_num_scheduled_tokens=running,
                             preempted_req_ids=set())
    return scheduler, output


def text_maker() -> Callable:
    """The extension's writer of records; the text goes nowhere."""
    native = _imp.create_dynamic(ModuleSpec("teller_native", None, origin=str(EXTENSION)))
    _imp.exec_dynamic(native)
    return lambda fields: native.record_text(fields) is not None


def main() -> None:
    """Measures and prints."""
    data = json.loads((ROOT / "python_hooks/targets/vllm_v1.json").read_text())
    target = Target(next(entry for entry in data["targets"] if entry["object"] == "Scheduler.schedule"), "vllm-v1")
    bridge.record = text_maker()
    rows = []
    for (running, waiting), changed in itertools.product(SIZES, (True, False)):
        scheduler, output = scheduler_of(running, waiting)
        times = []
        for number in range(REPEATS):
            if changed:
                scheduler.waiting.append(number)
            begin = time.perf_counter_ns()
            record.send_record(target, scheduler, None, output, record.before(target, scheduler, None))
            times.append((time.perf_counter_ns() - begin) / 1e3)
        rows.append({"running": running, "waiting": waiting, "list": "changed" if changed else "same", "unit": "us",
                     "median": statistics.median(times), "best": min(times)})
    if "--json" in sys.argv:
        print(json.dumps({"rows": rows}, indent=1))
        return
    for row in rows:
        print(f"{row['running']:4d} running {row['waiting']:5d} waiting, {row['list']:7}: {row['median']:8.1f} us (best {row['best']:.1f})")


if __name__ == "__main__":
    main()
