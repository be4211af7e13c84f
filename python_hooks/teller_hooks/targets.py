"""Reads target files: what is to be wrapped, as data."""
from __future__ import annotations

import os

from . import bridge, counters

TYPE_CHECKING = False  # typing is not imported for its own sake: it would bring re and enum into every Python
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

    Expression = Callable[[Any, Any, Any], Any]


class Target:
    """One function to be wrapped, its expressions compiled."""

    __slots__ = ("module", "path", "category", "range", "role", "request", "record", "before", "when", "unless", "stack")

    def __init__(self, data: dict, stack: str) -> None:
        """Raises if `data` is not a target."""
        from .expressions import compile_expression  # not before a target's module is there: it needs ast
        from .fields import Fields

        def expression(key: str) -> Optional[Expression]:
            return compile_expression(data[key]) if key in data else None

        self.module: str = _text(data, "module")
        self.path: str = _text(data, "object")
        layer = data.get("layer", "FE")
        if layer not in bridge.CATEGORIES:
            raise ValueError("unknown layer %r" % (layer,))
        self.category: int = bridge.CATEGORIES[layer]
        self.range: Optional[str] = data.get("range")
        self.role: Optional[str] = data.get("role")
        if self.role not in (None, "step", "schedule", "iteration"):
            raise ValueError("unknown role %r" % (self.role,))
        self.unless: Optional[str] = data.get("unless")
        self.request: Optional[Expression] = expression("request")
        self.when: Optional[Expression] = expression("when")
        self.before: Optional[Expression] = expression("before")
        self.record = Fields(data["record"], data.get("same_wait")) if data.get("record") else None
        self.stack = stack

    def __str__(self) -> str:
        return "%s:%s" % (self.module, self.path)

    def failed(self, key: str, error: BaseException) -> None:
        """Counts a field of the record that could not be evaluated or written."""
        counters.count_record_error("%s record %s" % (self, key), error)


def _text(data: dict, key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value:
        raise ValueError("%s must be a name" % key)
    return value


def built_in_files(folder: str) -> list:
    """The target files that come with teller."""
    targets = os.path.join(folder, "targets")
    try:
        names = sorted(os.listdir(targets))
    except OSError:
        return []
    return [os.path.join(targets, name) for name in names if name.endswith(".json")]


def user_files(variable: str) -> list:
    """The files of TELLER_HOOKS."""
    return [path for path in variable.split(":") if path]


class _Scanner:
    """What the C part of json asks its decoder for."""

    strict, memo = True, None
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _parse(text: str) -> Any:
    """json.loads() without json, which would bring re, enum and more into every Python, and into its forked children."""
    try:
        from _json import make_scanner
    except ImportError:
        import json

        return json.loads(text)
    text = text.strip(" \t\n\r")
    try:
        data, end = make_scanner(_Scanner)(text, 0)
    except StopIteration:
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("not JSON: more after its end")
    return data


# Stands among the entries of the module torch for its operators (operators.py).
OPERATORS: dict = {}


def _of_level(entry: dict, level: str) -> bool:
    """Whether a level has this target: `engine` has the steps and whatever tells of their requests."""
    return level != "engine" or entry.get("layer") == "STEP" or "role" in entry or "record" in entry


def load(files: list, level: str = "frontend") -> dict:
    """Entries of all files that the level has, by module, as (data, stack). What is wrong in the files is counted."""
    wanted: dict = {}
    for path in files:
        try:
            with open(path, encoding="utf-8") as file:
                data = _parse(file.read())
            if data.get("format") != "teller.hooks" or data.get("version") != 1:
                raise ValueError("not a hook file of version 1")
            entries = list(data.get("targets", []))
        except Exception as error:
            counters.invalid += 1
            counters.detail("%s: %s" % (path, error))
            continue
        for entry in entries:
            try:
                module = _text(entry, "module")
                if not _of_level(entry, level):
                    counters.left_out += 1
                    continue
            except Exception as error:
                counters.invalid += 1
                counters.detail("%s: %r: %s" % (path, entry, error))
                continue
            counters.wanted += 1
            wanted.setdefault(module, []).append((entry, str(data.get("stack", ""))))
    return wanted


def compiled(entries: list) -> list:
    """The targets of load()'s entries, once their module is there. Wrong ones are counted."""
    targets = []
    for entry, stack in entries:
        if entry is OPERATORS:
            continue
        try:
            targets.append(Target(entry, stack))
        except Exception as error:
            counters.wanted -= 1
            counters.invalid += 1
            counters.detail("%r: %s" % (entry, error))
    return targets
