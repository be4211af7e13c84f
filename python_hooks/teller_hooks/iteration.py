"""Steps of a training loop, which is no function: each lasts from one return of optimizer.step() to the next."""
from __future__ import annotations

import os
import weakref
from typing import Any, Optional

from . import bridge, counters

# The optimizer that counts. Where there are several (a generator's and a discriminator's), the first one does.
_leader: Optional[weakref.ref] = None
_range: Any = None
_token: Optional[int] = None
_pid = 0


def next_one(optimizer: Any) -> None:
    """Ends the iteration that is open, and begins the next. Raises own errors only."""
    global _leader, _range, _token, _pid
    try:
        leader = _leader() if _leader is not None else None
        if leader is not optimizer and leader is not None:
            return
        if _pid != os.getpid():  # a forked child does not end its parent's
            _token, _pid = None, os.getpid()
        if leader is None:
            _leader = weakref.ref(optimizer)
        if _token is not None:
            bridge.end(_token)
        if _range is None:
            _range = bridge.Range(bridge.STEP, b"train iteration")
        _token = _range.start()
    except Exception:
        counters.own_errors += 1
