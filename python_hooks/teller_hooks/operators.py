"""PyTorch's operators: recorded by its own observers, in the native library (preload/torch_observer.h)."""
from __future__ import annotations

from . import bridge, counters


def observe(torch: object) -> None:
    """Begins when torch has been imported; what came of it is said in META. Never raises."""
    try:
        answer = bridge.observe_torch(bridge.text(getattr(torch, "__version__", "")))
    except Exception as error:
        answer = "off: %s" % type(error).__name__
    bridge.note(b"operators", bridge.text(answer))
    if answer != "on":
        counters.detail("operators: %s" % answer)
