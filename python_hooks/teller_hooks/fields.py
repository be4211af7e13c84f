"""Evaluates the fields of a step record (docs/step_record.md)."""
from __future__ import annotations

from itertools import count
from os import getpid
from time import monotonic_ns
from typing import Any, Callable, Optional

from . import counters
from .expressions import compile_expression

# A list of waiting requests is written in full at least this often, so that who lost a record soon finds another.
_REPEAT_NS = 250_000_000
_PLAIN = frozenset((int, str))


class Fields:
    """The expressions of one target's record."""

    __slots__ = ("expressions", "_names", "_all", "_wait", "_same_wait", "_last", "_numbers")

    def __init__(self, texts: dict, same_wait: Optional[str]) -> None:
        """Raises if a text is no expression."""
        self.expressions: dict = {str(key): compile_expression(text) for key, text in texts.items()}
        self._same_wait = compile_expression(same_wait) if same_wait is not None and "wait" in texts else None
        self._wait = "wait" if self._same_wait is not None else None
        self._names = tuple(key for key in self.expressions if key != self._wait)
        # One call for all of them, which is the rule; one for each where one of them raises.
        self._all = compile_expression("(%s)" % "".join("(%s\n)," % texts[key] for key in self._names), None)
        self._last: Optional[tuple] = None  # what the list depends on, number of the record that has it, until when it holds
        self._numbers = count(1)

    def values(self, owner: Any, arguments: Any, result: Any, earlier: Any, failed: Callable) -> dict:
        """The fields by name. `failed` is called with the name and the error of one that raises, and it is left out."""
        fields: dict = {"v": 1}
        try:
            fields.update(zip(self._names, self._all(owner, arguments, result, earlier)))
        except Exception as first:
            if counters.is_of_a_handler(first):
                raise
            for key in self._names:
                try:
                    fields[key] = self.expressions[key](owner, arguments, result, earlier)
                except Exception as error:
                    failed(key, error)
        if self._same_wait is not None:
            try:
                self._add_wait(fields, owner, arguments, result, earlier, failed)
            except Exception as error:
                failed("wait", error)
        return fields

    def _add_wait(self, fields: dict, owner: Any, arguments: Any, result: Any, earlier: Any, failed: Callable) -> None:
        try:
            key = self._same_wait(owner, arguments, result, earlier)
        except Exception as error:
            key = None
            failed("same_wait", error)
        if type(key) is not tuple or not _PLAIN.issuperset(map(type, key)):
            fields["wait"] = self.expressions["wait"](owner, arguments, result, earlier)
            return
        key += (id(owner), getpid())  # a forked child's records are another source's
        now = monotonic_ns()
        last = self._last
        if last is not None and last[0] == key and now < last[2]:
            fields["v"], fields["wait"] = 2, last[1]
            return
        fields["wait"] = self.expressions["wait"](owner, arguments, result, earlier)
        fields["n"] = number = next(self._numbers)
        self._last = (key, number, now + _REPEAT_NS)

    def forget(self) -> None:
        """The last list could not be written: nothing may refer to it."""
        self._last = None
