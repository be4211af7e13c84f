"""What became of the targets in this process. Sent as a mark when it changes, since a killed process has no exit."""
from __future__ import annotations

import atexit
import sys

from . import bridge

installed = 0
missing = 0  # the module has no such object
not_function = 0  # it has, but that is no function
failed = 0  # could not be wrapped
invalid = 0  # the target file or the target itself is wrong
record_errors = 0  # an expression raised
as_main = 0  # the module is run as __main__, where it cannot be reached
own_errors = 0  # a range or record was given up, mostly near the recursion limit
left_out = 0  # not of the level that was asked for, or needless (`unless`)
wanted = 0
# Ranges whose end failed: ended with the next report.
unended: tuple = ()

_MAX_DETAILS = 50
# Files of our own code, and of the expressions that it compiles (expressions.FILE_NAME).
_OURS, _EXPRESSIONS = __file__.rpartition("/")[0] + "/", "<teller hooks>"
_details: list[str] = []
_sent = ""
_started = False
_next_record_report = 1


def snapshot() -> dict:
    """The counts as they are sent."""
    return {
        "targets": wanted,
        "installed": installed,
        "missing": missing,
        "not_function": not_function,
        "failed": failed,
        "invalid": invalid,
        "not_imported": max(0, wanted - installed - missing - not_function - failed),
        "as_main": as_main,
        "left_out": left_out,
        "record_errors": record_errors,
        "own_errors": own_errors,
        "details": _details,
    }


def _json(counts: dict) -> str:
    """json.dumps() of numbers and lists of texts, without json: see targets._parse()."""
    try:
        from _json import encode_basestring_ascii as quoted
    except ImportError:
        from json.encoder import encode_basestring_ascii as quoted
    fields = []
    for key, value in counts.items():
        text = "%d" % value if isinstance(value, int) else "[%s]" % ",".join([quoted(item) for item in value])
        fields.append("%s:%s" % (quoted(key), text))
    return "{%s}" % ",".join(fields)


def send() -> None:
    """Sends the counts, if they have changed. Never raises."""
    global unended, _sent
    try:
        while unended:  # one by one: near the recursion limit this call fails too, and tries again later
            bridge.end(unended[-1])
            unended = unended[:-1]
        text = _json(snapshot())
        # A forked child that did nothing of its own has nothing to say: its first event would cost it a memory file.
        if text != _sent:
            bridge.mark(bridge.META, bridge.text(text, bridge.MAX_TEXT))
            _sent = text
    except Exception:
        pass


def detail(text: str) -> None:
    """Keeps a line that says what went wrong, for people."""
    if len(_details) < _MAX_DETAILS:
        _details.append(text[:200])


def changed() -> None:
    """To be called after any change but record errors."""
    if _started:
        send()


def _code(handler: object) -> object:
    """The code of a function, a method, a partial of one or an object that is called."""
    for _ in range(8):
        handler = getattr(handler, "func", handler)
    function = getattr(handler, "__func__", handler)
    return getattr(function, "__code__", None) or getattr(getattr(type(handler), "__call__", None), "__code__", None)


def is_of_a_handler(error: BaseException) -> bool:
    """Whether a signal handler of the program raised it, which happened to run in our code: it is the program's."""
    codes, trace = set(), error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename != _EXPRESSIONS and not code.co_filename.startswith(_OURS):
            codes.add(code)
        trace = trace.tb_next
    if not codes:  # the rule: an expression that does not fit the program
        return False
    from _signal import getsignal, valid_signals

    return any(_code(getsignal(number)) in codes for number in valid_signals())


def count_record_error(what: str, error: BaseException) -> None:
    """Counts an expression that raised. Sent at 1, 2, 4, 8, …: a faulty expression fails at every step. The error's text
    is the program's: it may run its code, and hold what its users wrote. Raises what is not the expression's."""
    global record_errors, _next_record_report
    if is_of_a_handler(error):
        raise error
    record_errors += 1
    if record_errors < _next_record_report:
        return
    _next_record_report *= 2
    detail("%s: %s" % (what, type(error).__name__))
    changed()


def note_python() -> None:
    """Says which Python this is."""
    version = "%s %s" % (sys.implementation.name, sys.version.split()[0])
    bridge.note(b"python", bridge.text(version))
    bridge.note(b"hook_calls", bridge.text(bridge.kind))


def _at_exit() -> None:
    global as_main
    try:
        from . import import_hook

        as_main = import_hook.count_main()
    except Exception:
        pass
    send()


def start() -> None:
    """Sends the first counts, and the last ones at exit."""
    global _started
    _started = True
    send()
    atexit.register(_at_exit)
