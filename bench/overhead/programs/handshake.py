"""How a measured program and bench/overhead/run talk: READY; then for each line `go` the work, and DONE with its seconds."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable


def measured(work: Callable) -> None:
    """Says that all is ready; does the work whenever it is asked for, until the other side is gone or says anything else."""
    print("READY", flush=True)
    for line in sys.stdin:
        if line.strip() != "go":
            return
        begin = time.perf_counter()
        work()
        print(f"DONE {time.perf_counter() - begin}", flush=True)
