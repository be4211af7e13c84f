"""Finds a target's object in a module and puts the wrapped one in its place."""
from __future__ import annotations

import os
from types import FunctionType, MethodType
from typing import Any

from . import counters
from .targets import Target
from .wrapping import wrap


class Missing(LookupError):
    """The module has no such object: another version of the library, which is nobody's fault."""


class NotFunction(TypeError):
    """What is there is no function."""


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


def _function(raw: Any) -> FunctionType:
    """The function in `raw`. What only behaves like one has methods, attributes or a type of its own that a wrapper
    would hide from the program: lru_cache and partial objects, classes, built-in functions."""
    inner = raw.__func__ if type(raw) in (staticmethod, classmethod, MethodType) else raw
    if type(inner) is not FunctionType:
        raise NotFunction("a %s is not wrapped, only functions are" % type(inner).__name__)
    return inner


def _wrapped(target: Target, holder: Any, raw: Any, name: str) -> Any:
    function = _function(raw)
    if raw is function:
        return wrap(target, function, name, has_self=isinstance(holder, type))
    wrapper = wrap(target, function, name, has_self=type(raw) is not staticmethod)
    if type(raw) is MethodType:
        return MethodType(wrapper, raw.__self__)
    method = type(raw)(wrapper)
    for key, value in getattr(raw, "__dict__", {}).items():
        vars(method).setdefault(key, value)
    return method


def _is_there(module: Any, path: str) -> bool:
    try:
        _find(module, path)
    except Missing:
        return False
    return True


def _patch_one(module: Any, target: Target) -> None:
    if target.unless is not None and _is_there(module, target.unless):
        counters.left_out += 1
        counters.wanted -= 1
        return
    holder, name, raw = _find(module, target.path)
    wrapped_as = getattr(_function(raw), "__teller_target__", None)
    if wrapped_as == str(target):
        return
    if wrapped_as is not None and name not in vars(holder):  # inherited, and wrapped where it comes from
        counters.installed += 1
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
        except NotFunction as error:
            counters.not_function += 1
            counters.detail("%s: %s" % (target, error))
        except Exception as error:
            counters.failed += 1
            counters.detail("%s: %s: %s" % (target, type(error).__name__, error))
    counters.changed()
