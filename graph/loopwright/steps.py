"""One core for sync and async: a node is a generator that yields its outside calls, and two drivers make them."""

from collections.abc import Awaitable, Callable, Generator
from typing import Any, NamedTuple, TypeAlias, TypeVar

_R = TypeVar("_R")


class Do(NamedTuple):
    """A call that waits for the outside world, in its two forms. `value = yield Do(sleep, asyncio.sleep, (1,))`."""

    sync: Callable[..., Any]
    asynchronous: Callable[..., Awaitable[Any]]
    args: tuple[Any, ...] = ()


Core: TypeAlias = Generator[Do, Any, _R]
"""A computation that yields what it waits for and returns its result."""


def drive(core: Core[_R]) -> _R:
    """Run a core, making its outside calls one by one; what a call raises is thrown into the core."""
    try:
        step = next(core)
        while True:
            try:
                value = step.sync(*step.args)
            except BaseException as error:
                step = core.throw(error)
            else:
                step = core.send(value)
    except StopIteration as done:
        result: _R = done.value
        return result


async def adrive(core: Core[_R]) -> _R:
    """Run a core like `drive`, awaiting its outside calls."""
    try:
        step = next(core)
        while True:
            try:
                value = await step.asynchronous(*step.args)
            except BaseException as error:
                step = core.throw(error)
            else:
                step = core.send(value)
    except StopIteration as done:
        result: _R = done.value
        return result
