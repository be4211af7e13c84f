"""What is to be done around the calls of one wrapped function."""
from __future__ import annotations

from typing import Any, Callable, Optional

from . import bridge, counters, record
from .targets import Target


def _own(error: Exception) -> None:
    """Counts an error of ours; raises one that a signal handler of the program raised while we were at work."""
    if counters.is_of_a_handler(error):
        raise error
    counters.own_errors += 1


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
        """The range's message for a call, or None for no range. Raises no errors of expressions."""
        if self.target.when is None and self.target.request is None:
            return self.name
        try:
            owner, arguments = self.split(args, kwargs)
            return record.message(self.target, self.name, owner, arguments)
        except Exception as error:
            _own(error)
            return self.name

    def before(self, args: tuple, kwargs: dict) -> Optional[tuple]:
        """(self, arguments, what the record wants to know of the time before the call), for returned(). Raises no errors of expressions."""
        if self.target.before is None:
            return None
        try:
            owner, arguments = self.split(args, kwargs)
            return owner, arguments, record.before(self.target, owner, arguments)
        except Exception as error:
            _own(error)
            return None

    def returned(self, args: tuple, kwargs: dict, result: Any, before: Optional[tuple]) -> None:
        """Sends the record of a call that has returned. Raises no errors of expressions."""
        if self.target.record is None:
            return
        try:
            owner, arguments, earlier = before or (*self.split(args, kwargs), None)
            record.send_record(self.target, owner, arguments, result, earlier)
        except Exception as error:
            _own(error)
