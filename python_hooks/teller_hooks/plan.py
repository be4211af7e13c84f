"""What is to be done around the calls of one wrapped function."""
from __future__ import annotations

from typing import Any, Callable, Optional

from . import bridge, counters, record
from .targets import Target


class Plan:
    """What to do around one wrapped function."""

    __slots__ = ("target", "function", "name", "range", "has_self", "names", "defaults", "simple")

    def __init__(self, target: Target, function: Callable, name: str, has_self: bool) -> None:
        self.target = target
        self.function = function
        self.name = bridge.text(name)
        self.range = bridge.Range(target.category, self.name)
        self.has_self = has_self
        names, self.defaults = record.parameter_names(function)
        self.names = names[1:] if has_self else names
        self.simple = target.when is None and target.request is None and target.record is None

    def split(self, args: tuple, kwargs: dict) -> tuple:
        """(self, arguments) of a call."""
        owner = args[0] if self.has_self and args else None
        positional = args[1:] if self.has_self else args
        return owner, record.Arguments(positional, kwargs, self.names, self.defaults)

    def message(self, args: tuple, kwargs: dict) -> Optional[bytes]:
        """The range's message for a call, or None for no range. Raises own errors only."""
        if self.target.when is None and self.target.request is None:
            return self.name
        try:
            owner, arguments = self.split(args, kwargs)
            return record.message(self.target, self.name, owner, arguments)
        except Exception:
            counters.own_errors += 1
            return self.name

    def before(self, args: tuple, kwargs: dict) -> Any:
        """What the record wants to know of the time before the call. Raises own errors only."""
        if self.target.before is None:
            return None
        try:
            return record.before(self.target, *self.split(args, kwargs))
        except Exception:
            counters.own_errors += 1
            return None

    def returned(self, args: tuple, kwargs: dict, result: Any, before: Any) -> None:
        """Sends the record of a call that has returned. Raises own errors only."""
        if self.target.record is None:
            return
        try:
            owner, arguments = self.split(args, kwargs)
            record.send_record(self.target, owner, arguments, result, before)
        except Exception:
            counters.own_errors += 1
