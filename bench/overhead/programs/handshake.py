"""How a measured program and bench/overhead/run talk: READY, a line, the work, DONE, a line."""
from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def measured(work: Callable, repeats: int) -> None:
    """Says that all is ready, waits, does the work `repeats` times, says how long each took in seconds, and waits again."""
    print("READY", flush=True)
    sys.stdin.readline()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    print("DONE " + json.dumps(times), flush=True)
    sys.stdin.readline()
