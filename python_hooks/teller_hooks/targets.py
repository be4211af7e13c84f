"""Reads target files: what is to be wrapped, as data."""
from __future__ import annotations

import json
import os
from typing import Any, Callable, Optional

from . import bridge, counters
from .expressions import compile_expression

Expression = Callable[[Any, Any, Any], Any]


class Target:
    """One function to be wrapped, its expressions compiled."""

    __slots__ = ("module", "path", "category", "range", "role", "request", "record", "when", "stack")

    def __init__(self, data: dict, stack: str) -> None:
        """Raises if `data` is not a target."""
        self.module: str = _text(data, "module")
        self.path: str = _text(data, "object")
        layer = data.get("layer", "FE")
        if layer not in bridge.CATEGORIES:
            raise ValueError("unknown layer %r" % (layer,))
        self.category: int = bridge.CATEGORIES[layer]
        self.range: Optional[str] = data.get("range")
        self.role: Optional[str] = data.get("role")
        self.request: Optional[Expression] = _expression(data, "request")
        self.when: Optional[Expression] = _expression(data, "when")
        self.record: dict = {}
        for key, text in data.get("record", {}).items():
            self.record[str(key)] = compile_expression(text)
        self.stack = stack

    def __str__(self) -> str:
        return "%s:%s" % (self.module, self.path)


def _text(data: dict, key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value:
        raise ValueError("%s must be a name" % key)
    return value


def _expression(data: dict, key: str) -> Optional[Expression]:
    return compile_expression(data[key]) if key in data else None


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


def load(files: list) -> dict:
    """Targets of all files by module. What is wrong in them is counted."""
    wanted: dict = {}
    for path in files:
        try:
            with open(path, encoding="utf-8") as file:
                data = json.load(file)
            if data.get("format") != "teller.hooks" or data.get("version") != 1:
                raise ValueError("not a hook file of version 1")
            entries = list(data.get("targets", []))
        except Exception as error:
            counters.invalid += 1
            counters.detail("%s: %s" % (path, error))
            continue
        for entry in entries:
            try:
                target = Target(entry, str(data.get("stack", "")))
            except Exception as error:
                counters.invalid += 1
                counters.detail("%s: %r: %s" % (path, entry, error))
                continue
            counters.wanted += 1
            wanted.setdefault(target.module, []).append(target)
    return wanted
