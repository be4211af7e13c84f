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


# What a call into the library may raise by itself: near the recursion limit, or without memory.
OWN_ERRORS: tuple = (RecursionError, MemoryError)
# Longer texts are cut before they are encoded.
MAX_NAME, MAX_TEXT = 1024, 128 << 10

push = pop = mark = start = end = note = _nothing


def load(path: str) -> bool:
    """Loads the library and replaces this module's functions by its own. False if it does not record."""
    global push, pop, mark, start, end, note, OWN_ERRORS
    try:
        from ctypes import ArgumentError, PyDLL, c_char_p, c_int, c_uint32, c_uint64

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
        # Bytes and small integers need no conversion, and thus no deeper recursion than any call.
        functions["push"].argtypes = None
    except Exception:
        return False
    push, pop, mark = functions["push"], functions["pop"], functions["mark"]
    OWN_ERRORS = (RecursionError, MemoryError, ArgumentError)  # ctypes puts any error of a conversion into that one
    start, end, note = functions["start"], functions["end"], functions["note"]
    return True


def text(value: object, limit: int = MAX_NAME) -> bytes:
    """`value` as the C string of a message, of at most `limit` characters."""
    if isinstance(value, (bytes, bytearray)):
        value = value[:limit]
    elif isinstance(value, (list, tuple, dict, set, frozenset)):  # as long as it pleases, and so are its items
        raise TypeError("a %s is no name" % type(value).__name__)
    elif isinstance(value, int) and int.bit_length(value) > limit:
        raise ValueError("a number of %d bits is no name" % int.bit_length(value))
    return str(value)[:limit].encode("utf-8", "replace").replace(b"\0", b"?")
