"""Calls into the native library: through our extension, or through ctypes where that cannot be loaded.

Neither gives up the GIL: these calls take some tens of nanoseconds and never block. Giving it up for each of them would
cost more than the call, and would let other threads in where the program on its own would not.
"""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# NVTX categories of the domain "teller"; kept in step with preload/hook_bridge.h.
STEP, FRONT_END, BACK_END, RECORD, META = 1, 2, 3, 4, 5
CATEGORIES = {"STEP": STEP, "FE": FRONT_END, "BE": BACK_END}


def _nothing(*_unused: object) -> int:
    return 0


# What a call into the library may raise by itself: near the recursion limit, or without memory.
OWN_ERRORS: tuple = (RecursionError, MemoryError)
# Longer texts are cut before they are encoded.
MAX_NAME, MAX_TEXT = 1024, 128 << 10

# Replaced by load(). Range(category, name) has push(), start(), push_text(name) and start_text(name).
pop = mark = end = note = observe_torch = Range = _nothing
# record(fields) writes a step record of plain values; false where there is no extension, or a value needs conversion.
record = _nothing
kind = "none"


def load(path: str, extension: str) -> bool:
    """Loads the library and replaces this module's functions by its own. False if it does not record. The extension is
    the short way; an empty path leaves it out."""
    global kind
    answer = _load_extension(path, extension) if extension else None
    if answer is None:
        answer = _load_ctypes(path)
        kind = "ctypes"
    return answer


def _load_extension(path: str, extension: str) -> bool | None:
    """None if it cannot be loaded."""
    global pop, mark, end, note, record, observe_torch, Range, kind
    try:
        # Not from importlib, which would be in every Python; and not in sys.modules, which is the program's.
        import _imp
        from _frozen_importlib import ModuleSpec

        native = _imp.create_dynamic(ModuleSpec("teller_native", None, origin=extension))
        _imp.exec_dynamic(native)
        if not native.load(path.encode()):
            return False
        pop, mark, end, note = native.pop, native.mark, native.end, native.note
        record, observe_torch, Range = native.record, native.observe_torch, native.Range
    except Exception:
        return None
    kind = "extension"
    return True


_SIGNATURES = {"push": "-Ip", "pop": "-", "mark": "-Ip", "start": "QIp", "end": "-Q", "note": "-pp", "observe_torch": "pp"}


def _load_ctypes(path: str) -> bool:
    global pop, mark, end, note, observe_torch, Range, OWN_ERRORS
    try:
        from ctypes import ArgumentError, PyDLL, c_char_p, c_int, c_uint32, c_uint64

        library = PyDLL(path)
        library.teller_hook_init.restype = c_int
        library.teller_hook_init.argtypes = ()
        if not library.teller_hook_init():
            return False
        types = {"-": None, "I": c_uint32, "Q": c_uint64, "p": c_char_p}
        functions = {}
        for name, (result, *arguments) in _SIGNATURES.items():
            function = getattr(library, "teller_hook_" + name)
            function.restype, function.argtypes = types[result], [types[letter] for letter in arguments]
            functions[name] = function
        # Bytes and small integers need no conversion, and thus no deeper recursion than any call.
        functions["push"].argtypes = None
    except Exception:
        return False
    pop, mark, end, note = (functions[name] for name in ("pop", "mark", "end", "note"))
    Range = _ctypes_range(functions["push"], functions["start"])

    def observe_torch(version: bytes) -> str:
        return functions["observe_torch"](version).decode()

    OWN_ERRORS = (RecursionError, MemoryError, ArgumentError)  # ctypes puts any error of a conversion into that one
    return True


def _ctypes_range(push: Any, start: Any) -> Any:
    """What stands in for the extension's Range: without a Python frame of its own, of which recursion has but so many."""

    class CtypesRange:
        def __init__(self, category: int, name: bytes) -> None:
            from functools import partial  # only where something is wrapped

            self.push, self.start = partial(push, category, name), partial(start, category, name)
            self.push_text, self.start_text = partial(push, category), partial(start, category)

    return CtypesRange


def text(value: object, limit: int = MAX_NAME) -> bytes:
    """`value` as the C string of a message, of at most `limit` characters."""
    if isinstance(value, (bytes, bytearray)):
        value = value[:limit]
    elif isinstance(value, (list, tuple, dict, set, frozenset)):  # as long as it pleases, and so are its items
        raise TypeError("a %s is no name" % type(value).__name__)
    elif isinstance(value, int) and int.bit_length(value) > limit:
        raise ValueError("a number of %d bits is no name" % int.bit_length(value))
    return str(value)[:limit].encode("utf-8", "replace").replace(b"\0", b"?")
