"""Wraps one function in a range, whatever kind of function it is.

Near the recursion limit, or without memory, our own calls fail where the program's might not. Then the function is
called without a range, and that is counted: inline, since a call of ours would fail in its turn. Only what
our own calls raise is caught: anything else comes from a signal handler of the program, and is passed on. Python runs
handlers right after a call that has returned, or where it jumps: what comes out of push() has been pushed, and between
it and the `try` that pops nothing may be called and no branch taken. (Python 3.9 may run them before push() as well.)
"""
from __future__ import annotations

import functools
import sys
import types
from typing import Any, Callable

from . import bridge, counters, iteration
from .plan import Plan
from .targets import Target

# Bits of code.co_flags (the module inspect, which names them, is too heavy to import into every program).
_GENERATOR, _COROUTINE, _ITERABLE_COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x100, 0x200


def _simple(plan: Plan) -> Callable:
    """The fast path: a constant name and nothing else."""
    function, push, pop, own_errors = plan.function, plan.range.push, bridge.pop, bridge.OWN_ERRORS

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        pushed = True
        try:
            push()
        except own_errors:
            pushed = False
            counters.own_errors += 1
        except BaseException:
            try:
                pop()
            except own_errors:
                counters.own_errors += 1
            raise
        if pushed:
            try:
                return function(*args, **kwargs)
            finally:
                try:
                    pop()
                except own_errors:
                    counters.own_errors += 1
        # Not in the handler: the program would find our error in sys.exc_info() and as __context__ of its own.
        return function(*args, **kwargs)

    return wrapper


def _plain(plan: Plan) -> Callable:
    function, push, pop, own_errors = plan.function, plan.range.push_text, bridge.pop, bridge.OWN_ERRORS

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        before = None
        try:
            message = plan.message(args, kwargs)
            if message is not None:
                before = plan.before(args, kwargs)
        except own_errors:
            message = None
            counters.own_errors += 1
        if message is None:
            return function(*args, **kwargs)
        pushed = True
        try:
            push(message)
        except own_errors:
            pushed = False
            counters.own_errors += 1
        except BaseException:
            try:
                pop()
            except own_errors:
                counters.own_errors += 1
            raise
        if pushed:
            try:
                result = function(*args, **kwargs)
                try:
                    plan.returned(args, kwargs, result, before)
                except own_errors:
                    counters.own_errors += 1
                return result
            finally:
                try:
                    pop()
                except own_errors:
                    counters.own_errors += 1
        return function(*args, **kwargs)

    return wrapper


def _iteration(plan: Plan) -> Callable:
    """As usual, and after it the step of a training loop ends and the next one begins."""
    function, own_errors = plan.function, bridge.OWN_ERRORS
    ranged = _simple(plan) if plan.simple else _plain(plan)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        result = ranged(*args, **kwargs)
        try:
            iteration.next_one(args[0] if args else None)
        except own_errors:
            counters.own_errors += 1
        return result

    return wrapper


def _coroutine(plan: Plan) -> Callable:
    """Start and end, not push and pop: other coroutines run on the thread in between."""
    function, start, end, own_errors = plan.function, plan.range.start_text, bridge.end, bridge.OWN_ERRORS

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = before = None
        try:
            message = plan.message(args, kwargs)
            if message is not None:
                before = plan.before(args, kwargs)
                token = start(message)
        except own_errors:
            counters.own_errors += 1
        if token is not None:
            try:
                result = await function(*args, **kwargs)
                try:
                    plan.returned(args, kwargs, result, before)
                except own_errors:
                    counters.own_errors += 1
                return result
            finally:
                try:
                    end(token)
                except own_errors:
                    counters.own_errors += 1
                    counters.unended += (token,)
        return await function(*args, **kwargs)

    return wrapper


def _generator(plan: Plan) -> Callable:
    """The range lasts from the first item asked for to the end."""
    function, start, end, own_errors = plan.function, plan.range.start_text, bridge.end, bridge.OWN_ERRORS

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = before = None
        try:
            message = plan.message(args, kwargs)
            if message is not None:
                before = plan.before(args, kwargs)
                token = start(message)
        except own_errors:
            counters.own_errors += 1
        if token is not None:
            try:
                result = yield from function(*args, **kwargs)
                try:
                    plan.returned(args, kwargs, result, before)
                except own_errors:
                    counters.own_errors += 1
                return result
            finally:
                try:
                    end(token)
                except own_errors:
                    counters.own_errors += 1
                    counters.unended += (token,)
        return (yield from function(*args, **kwargs))

    return wrapper


def _async_generator(plan: Plan) -> Callable:
    """There is no `async yield from`: what is sent and thrown is passed on by hand.

    The event loop closes generators that are left over: ours alone, which closes the program's. It learns of them
    through hooks of the thread, at their first step.
    """
    function, start, end, own_errors = plan.function, plan.range.start_text, bridge.end, bridge.OWN_ERRORS
    get_hooks, set_hooks = sys.get_asyncgen_hooks, sys.set_asyncgen_hooks

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        token = before = None
        try:
            message = plan.message(args, kwargs)
            if message is not None:
                before = plan.before(args, kwargs)
                token = start(message)
        except own_errors:
            counters.own_errors += 1
        try:
            inner = function(*args, **kwargs)
            first_step, finalizer = get_hooks()
            try:
                set_hooks(None, None)
                step = inner.__anext__()
            finally:
                set_hooks(first_step, finalizer)
            item = await step
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
            if token is not None:
                try:
                    plan.returned(args, kwargs, None, before)
                except own_errors:
                    counters.own_errors += 1
        finally:
            if token is not None:
                try:
                    end(token)
                except own_errors:
                    counters.own_errors += 1
                    counters.unended += (token,)

    return wrapper


def wrap(target: Target, function: types.FunctionType, name: str, has_self: bool) -> Callable:
    """`function` in a range called `name`."""
    plan = Plan(target, function, name, has_self)
    flags = function.__code__.co_flags
    if flags & _ASYNC_GENERATOR:
        wrapper = _async_generator(plan)
    elif flags & _COROUTINE:
        wrapper = _coroutine(plan)
    elif flags & _GENERATOR:
        wrapper = _generator(plan)
        if flags & _ITERABLE_COROUTINE:
            wrapper = types.coroutine(wrapper)
    elif target.role == "iteration":
        wrapper = _iteration(plan)
    else:
        wrapper = _simple(plan) if plan.simple else _plain(plan)
    # Only for those who look: all parameters of a wrapper are given, so it never uses them.
    wrapper.__defaults__ = function.__defaults__  # type: ignore[attr-defined]
    wrapper.__kwdefaults__ = function.__kwdefaults__  # type: ignore[attr-defined]
    wrapper.__teller_target__ = str(target)  # type: ignore[attr-defined]
    return wrapper
