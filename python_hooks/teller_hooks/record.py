"""Makes the messages of ranges and the step's record (docs/step_record.md)."""
from __future__ import annotations

import json
import math
import sys
from collections import OrderedDict, defaultdict, deque
from enum import Enum
from types import GeneratorType
from typing import Any, Optional

from . import bridge, counters
from .expressions import FILE_NAME
from .targets import Target


class Arguments:
    """The arguments of one call, by name (args.request_id) or position (args[0]); `self` is not among them."""

    __slots__ = ("_positional", "_named", "_names", "_defaults")

    def __init__(self, positional: tuple, named: dict, names: tuple, defaults: dict) -> None:
        self._positional = positional
        self._named = named
        self._names = names
        self._defaults = defaults

    def __getitem__(self, index: int) -> Any:
        return self._positional[index]

    def __getattr__(self, name: str) -> Any:
        if name in self._named:
            return self._named[name]
        if name in self._names:
            index = self._names.index(name)
            if index < len(self._positional):
                return self._positional[index]
        if name in self._defaults:
            return self._defaults[name]
        raise AttributeError("no argument %s" % name)


def parameter_names(function: Any) -> tuple:
    """Names of the positional parameters, and defaults by name; ((), {}) where the function does not tell."""
    code = getattr(function, "__code__", None)
    if code is None:
        return (), {}
    names = code.co_varnames[: code.co_argcount]
    values = getattr(function, "__defaults__", None) or ()
    defaults = dict(zip(names[len(names) - len(values):], values))
    defaults.update(getattr(function, "__kwdefaults__", None) or {})
    return names, defaults


_MAX_DEPTH = 16
_DICTS = frozenset((dict, OrderedDict, defaultdict))
_VIEWS = [type(view) for plain in (dict(), OrderedDict()) for view in (plain.keys(), plain.values(), plain.items())]
_LISTS = frozenset((list, tuple, set, frozenset, deque, range, *_VIEWS))


class Foreign(TypeError):
    """A value that cannot be written without running code of the program."""


def _scalar(value: Any) -> Any:
    """`value` of a subclass of a plain type, or of numpy, by the code of that type alone: the program's is not run."""
    kind = type(value)
    for plain, convert in ((int, int.__index__), (float, float.__float__), (str, str.__str__)):
        if issubclass(kind, plain):
            return convert(value)
    if issubclass(kind, Enum):
        return object.__getattribute__(value, "_name_")
    generic = getattr(sys.modules.get("numpy"), "generic", None)
    if generic is not None and issubclass(kind, generic):
        number = generic.item(value)
        if type(number) in (bool, int, float, str):
            return number
    raise Foreign("a %s is not written: convert it in the expression" % kind.__name__)


def _key(key: Any) -> Any:
    key = _plain(key, _MAX_DEPTH)
    return key if type(key) is str else json.dumps(key)


def _plain(value: Any, depth: int = 0) -> Any:
    """`value` as what json can write. Anything but plain values raises: .item() of a tensor would wait for the GPU,
    and who iterates over a generator of the program takes its items away."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        if not math.isfinite(value):
            raise ValueError("%r is no number" % value)
        return value
    own = kind is GeneratorType and value.gi_code.co_filename == FILE_NAME
    if not (own or kind in _LISTS or kind in _DICTS or issubclass(kind, tuple)):
        return _plain(_scalar(value), depth)
    if depth >= _MAX_DEPTH:
        raise ValueError("nested too deeply")
    if kind in _DICTS:
        return {_key(key): _plain(item, depth + 1) for key, item in value.items()}
    items = tuple.__iter__(value) if issubclass(kind, tuple) else value
    return [_plain(item, depth + 1) for item in items]


def _row(entry: Any) -> list:
    """A row of `req`, `wait` or `preempt`: ids are strings, flags are 0 or 1."""
    values = [int(value) if type(value) is bool else value for value in entry]
    values[0] = str(values[0])
    return values


_ROWS = ("req", "wait", "preempt")
_TUPLES, _ROW_TYPES, _STRINGS = {tuple}, {str, int}, {str}


def _is_plain_table(value: Any) -> bool:
    """Whether `value` is a list of rows that need no conversion, which is the rule: a step may have thousands."""
    return (
        type(value) is list
        and {type(row) for row in value} <= _TUPLES
        and all(value)
        and {type(item) for row in value for item in row} <= _ROW_TYPES
        and {type(row[0]) for row in value} <= _STRINGS
    )


def _field(key: str, value: Any) -> Any:
    if key in _ROWS and (type(value) is int or _is_plain_table(value)):
        return value
    value = _plain(value)
    if key in _ROWS:
        return [_row(entry) for entry in value]
    return value


# Values are plain here, and not deep: nothing can be circular.
_encode = json.JSONEncoder(check_circular=False, allow_nan=False, separators=(",", ":")).encode


def before(target: Target, owner: Any, arguments: Arguments) -> Any:
    """The value of the target's `before` when the call begins; None if it raises, which is counted."""
    try:
        return target.before(owner, arguments, None)
    except Exception as error:
        counters.count_record_error("%s before" % target, error)
        return None


def send_record(target: Target, owner: Any, arguments: Arguments, result: Any, earlier: Any) -> None:
    """Evaluates the record's fields and sends them as a mark. A field that raises is left out and counted; one that is
    None is left out."""
    values = target.record.values(owner, arguments, result, earlier, target.failed)
    try:
        _send(target, values)
    except BaseException:  # near the recursion limit: what was not sent is not referred to
        target.record.forget()
        raise


def _send(target: Target, values: dict) -> None:
    if bridge.record(values):
        return
    fields = {}
    for key, value in values.items():
        if value is None:
            continue
        try:
            fields[key] = _field(key, value)
        except Exception as error:
            target.failed(key, error)
            if key == "wait":
                target.record.forget()
    try:
        bridge.mark(bridge.RECORD, _encode(fields).encode("ascii"))
    except Exception as error:
        counters.count_record_error("%s record" % target, error)
        target.record.forget()


def message(target: Target, name: bytes, owner: Any, arguments: Arguments) -> Optional[bytes]:
    """The range's message; None if `when` says that this call has none."""
    try:
        if target.when is not None and not target.when(owner, arguments, None):
            return None
    except Exception as error:
        counters.count_record_error("%s when" % target, error)
    if target.request is None:
        return name
    try:
        request = bridge.text(_plain(target.request(owner, arguments, None)))
        return name + b" request=" + b"_".join(request.split())
    except Exception as error:
        counters.count_record_error("%s request" % target, error)
        return name
