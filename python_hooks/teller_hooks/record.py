"""Makes the messages of ranges and the step's record (docs/step_record.md)."""
from __future__ import annotations

import json
from typing import Any, Optional

from . import bridge, counters
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


def _plain(value: Any) -> Any:
    """What json cannot write: numbers of other libraries, sets, generators."""
    for convert in (lambda v: v.item(), list):
        try:
            return convert(value)
        except Exception:
            continue
    return str(value)


def _row(entry: Any) -> list:
    """A row of `req`, `wait` or `preempt`: ids are strings, flags are 0 or 1."""
    values = [int(value) if isinstance(value, bool) else value for value in entry]
    values[0] = str(values[0])
    return values


def _field(key: str, value: Any) -> Any:
    if key in ("req", "wait", "preempt"):
        return [_row(entry) for entry in value]
    return value


def send_record(target: Target, owner: Any, arguments: Arguments, result: Any) -> None:
    """Evaluates the record's fields and sends them as a mark. A field that raises is left out and counted."""
    fields: dict = {"v": 1}
    for key, expression in target.record.items():
        try:
            fields[key] = _field(key, expression(owner, arguments, result))
        except Exception as error:
            counters.count_record_error("%s record %s" % (target, key), error)
    try:
        text = json.dumps(fields, separators=(",", ":"), default=_plain, allow_nan=False)
        bridge.mark(bridge.RECORD, text.encode("ascii"))
    except Exception as error:
        counters.count_record_error("%s record" % target, error)


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
        request = bridge.text(target.request(owner, arguments, None))
        return name + b" request=" + b"_".join(request.split())
    except Exception as error:
        counters.count_record_error("%s request" % target, error)
        return name
