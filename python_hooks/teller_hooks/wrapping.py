"""Wraps one function in a range, whatever kind of function it is."""
from __future__ import annotations

import functools
from typing import Any, Callable, Optional

from . import bridge, record
from .targets import Target

# Bits of code.co_flags (the module inspect, which names them, is too heavy to import into every program).
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


class Plan:
    """What to do around one wrapped function."""

    __slots__ = ("target", "function", "name", "has_self", "names", "defaults", "simple")

    def __init__(self, target: Target, function: Callable, name: str, has_self: bool) -> None:
        self.target = target
        self.function = function
        self.name = bridge.text(name)
        self.has_self = has_self
        names, self.defaults = record.parameter_names(function)
        self.names = names[1:] if has_self else names
        self.simple = target.when is None and target.request is None and not target.record

    def split(self, args: tuple, kwargs: dict) -> tuple:
        """(self, arguments) of a call."""
        owner = args[0] if self.has_self and args else None
        positional = args[1:] if self.has_self else args
        return owner, record.Arguments(positional, kwargs, self.names, self.defaults)

    def message(self, args: tuple, kwargs: dict) -> Optional[bytes]:
        """The range's message for a call, or None for no range. Never raises."""
        if self.simple:
            return self.name
        owner, arguments = self.split(args, kwargs)
        return record.message(self.target, self.name, owner, arguments)

    def returned(self, args: tuple, kwargs: dict, result: Any) -> None:
        """Sends the record of a call that has returned. Never raises."""
        if self.target.record:
            owner, arguments = self.split(args, kwargs)
            record.send_record(self.target, owner, arguments, result)


def _simple(plan: Plan) -> Callable:
    """The fast path: a constant name and nothing else."""
    function, category, name = plan.function, plan.target.category, plan.name
    push, pop = bridge.push, bridge.pop

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        push(category, name)
        try:
            return function(*args, **kwargs)
        finally:
            pop()

    return wrapper


def _plain(plan: Plan) -> Callable:
    function, category = plan.function, plan.target.category

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        message = plan.message(args, kwargs)
        if message is None:
            return function(*args, **kwargs)
        bridge.push(category, message)
        try:
            result = function(*args, **kwargs)
            plan.returned(args, kwargs, result)
            return result
        finally:
            bridge.pop()

    return wrapper


def _coroutine(plan: Plan) -> Callable:
    """Start and end, not push and pop: other coroutines run on the thread in between."""
    function, category = plan.function, plan.target.category

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        message = plan.message(args, kwargs)
        if message is None:
            return await function(*args, **kwargs)
        token = bridge.start(category, message)
        try:
            result = await function(*args, **kwargs)
            plan.returned(args, kwargs, result)
            return result
        finally:
            bridge.end(token)

    return wrapper


def _generator(plan: Plan) -> Callable:
    """The range lasts from the first item asked for to the end."""
    function, category = plan.function, plan.target.category

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        message = plan.message(args, kwargs)
        if message is None:
            return (yield from function(*args, **kwargs))
        token = bridge.start(category, message)
        try:
            result = yield from function(*args, **kwargs)
            plan.returned(args, kwargs, result)
            return result
        finally:
            bridge.end(token)

    return wrapper


def _async_generator(plan: Plan) -> Callable:
    """There is no `async yield from`: what is sent and thrown is passed on by hand."""
    function, category = plan.function, plan.target.category

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        message = plan.message(args, kwargs)
        token = bridge.start(category, message) if message is not None else None
        inner = function(*args, **kwargs)
        try:
            item = await inner.__anext__()
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    await inner.aclose()
                    raise
                except BaseException as error:
                    item = await inner.athrow(error)
                else:
                    item = await inner.asend(sent)
        except StopAsyncIteration:
            plan.returned(args, kwargs, None)
        finally:
            if token is not None:
                bridge.end(token)

    return wrapper


def wrap(target: Target, function: Callable, name: str, has_self: bool) -> Callable:
    """`function` in a range called `name`."""
    plan = Plan(target, function, name, has_self)
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    if flags & _ASYNC_GENERATOR:
        wrapper = _async_generator(plan)
    elif flags & _COROUTINE:
        wrapper = _coroutine(plan)
    elif flags & _GENERATOR:
        wrapper = _generator(plan)
    else:
        wrapper = _simple(plan) if plan.simple else _plain(plan)
    wrapper.__teller_target__ = str(target)  # type: ignore[attr-defined]
    return wrapper
