"""Finds a target's object in a module and puts the wrapped one in its place."""
from __future__ import annotations

import os
from typing import Any

from . import counters
from .targets import Target
from .wrapping import wrap


class Missing(LookupError):
    """The module has no such object: another version of the library, which is nobody's fault."""


def _find(module: Any, path: str) -> tuple:
    """(the object that holds it, its name, the raw attribute) of a dotted path."""
    holder = module
    *parents, name = path.split(".")
    for parent in parents:
        try:
            holder = getattr(holder, parent)
        except AttributeError:
            raise Missing(path) from None
    # Raw, because getattr() would turn static and class methods into something else.
    candidates = getattr(holder, "__mro__", (holder,))
    for candidate in candidates:
        if name in vars(candidate):
            return holder, name, vars(candidate)[name]
    raise Missing(path)


def _default_name(module: Any, path: str) -> str:
    file = getattr(module, "__file__", None) or module.__name__
    return "%s: %s" % (os.path.basename(file), path)


def _wrapped(target: Target, holder: Any, raw: Any, name: str) -> Any:
    if isinstance(raw, staticmethod):
        return staticmethod(wrap(target, raw.__func__, name, has_self=False))
    if isinstance(raw, classmethod):
        return classmethod(wrap(target, raw.__func__, name, has_self=True))
    if isinstance(raw, (type, property)) or not callable(raw):
        raise TypeError("a %s cannot be wrapped" % type(raw).__name__)
    return wrap(target, raw, name, has_self=isinstance(holder, type))


def _patch_one(module: Any, target: Target) -> None:
    holder, name, raw = _find(module, target.path)
    inner = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
    if getattr(inner, "__teller_target__", None) == str(target):
        return
    setattr(holder, name, _wrapped(target, holder, raw, target.range or _default_name(module, target.path)))
    counters.installed += 1


def patch_module(module: Any, targets: list) -> None:
    """Wraps the targets of a module. Counts what cannot be; never raises."""
    for target in targets:
        try:
            _patch_one(module, target)
        except Missing:
            counters.missing += 1
            counters.detail("%s: not there" % target)
        except Exception as error:
            counters.failed += 1
            counters.detail("%s: %s: %s" % (target, type(error).__name__, error))
    counters.changed()
