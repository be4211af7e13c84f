"""Calls into the native library.

PyDLL, not CDLL: these calls take some tens of nanoseconds and never block. Giving up the GIL for each of them would
cost more than the call, and would let other threads in where the program on its own would not.
"""
from __future__ import annotations

# NVTX categories of the domain "teller"; kept in step with preload/hook_bridge.h.
STEP, FRONT_END, BACK_END, RECORD, META = 1, 2, 3, 4, 5
CATEGORIES = {"STEP": STEP, "FE": FRONT_END, "BE": BACK_END}


def _nothing(*_unused: object) -> int:
    return 0


push = pop = mark = start = end = note = _nothing


def load(path: str) -> bool:
    """Loads the library and replaces this module's functions by its own. False if it does not record."""
    global push, pop, mark, start, end, note
    try:
        from ctypes import PyDLL, c_char_p, c_int, c_uint32, c_uint64

        library = PyDLL(path)
        library.teller_hook_init.restype = c_int
        library.teller_hook_init.argtypes = ()
        if not library.teller_hook_init():
            return False
        signatures = {
            "push": (None, (c_uint32, c_char_p)),
            "pop": (None, ()),
            "mark": (None, (c_uint32, c_char_p)),
            "start": (c_uint64, (c_uint32, c_char_p)),
            "end": (None, (c_uint64,)),
            "note": (None, (c_char_p, c_char_p)),
        }
        functions = {}
        for name, (result, arguments) in signatures.items():
            function = getattr(library, "teller_hook_" + name)
            function.restype, function.argtypes = result, arguments
            functions[name] = function
    except Exception:
        return False
    push, pop, mark = functions["push"], functions["pop"], functions["mark"]
    start, end, note = functions["start"], functions["end"], functions["note"]
    return True


def text(value: object) -> bytes:
    """`value` as the C string of a message."""
    return str(value).encode("utf-8", "replace").replace(b"\0", b"?")
