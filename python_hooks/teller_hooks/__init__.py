"""Wraps functions of the traced program in NVTX ranges, as target files say (docs/hooks.md).

Nothing in this package may raise into the program, print, or change what it computes.
"""
from __future__ import annotations

import os
import sys

_OLDEST = (3, 9)


def _extension(library: str) -> str:
    """The extension beside the library; "" if it must not be used: a free-threaded Python has another ABI."""
    if os.environ.get("TELLER_NO_EXTENSION") or "t" in sys.abiflags:
        return ""
    return library.rpartition("/")[0] + "/teller_native.abi3.so"


def install(folder: str) -> bool:
    """Installs the hooks in this process. False if nobody records it, or hooks cannot work here."""
    from . import bridge

    library = os.environ.get("TELLER_LIBRARY")
    if not library or not bridge.load(library, _extension(library)):
        return False
    from . import counters, import_hook, targets

    counters.note_python()
    if sys.version_info < _OLDEST:  # its ast differs, and it aborts where others raise RecursionError
        bridge.note(b"hook_calls", b"off: the hooks need Python 3.9")
        return False
    level = os.environ.get("TELLER_LEVEL", "frontend")
    files = targets.built_in_files(folder) + targets.user_files(os.environ.get("TELLER_HOOKS", ""))
    wanted = targets.load(files, level)
    if level == "operators":
        wanted.setdefault("torch", []).append((targets.OPERATORS, "torch"))
    if wanted:
        import_hook.install(wanted)
    counters.start()
    return True
