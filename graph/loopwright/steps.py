"""One core for sync and async: a node is a generator that yields its outside calls, and two drivers make them."""

from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

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


class Node(Runnable[Any, Any]):
    """A core as a graph node, sync and async; one that waits for nothing may be a plain function.

    (RunnableLambda would trace each node twice and cost 0.2 ms a step.)
    """

    def __init__(self, core: Callable[..., Core[Any] | Any], *bound: object) -> None:
        self.core = partial(core, *bound)
        self.name = core.__name__

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the core with the state; `config` reaches it through LangGraph's context variables."""
        result = self.core(input)
        return drive(result) if isinstance(result, Generator) else result

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Run the core with the state, awaiting its outside calls."""
        result = self.core(input)
        return await adrive(result) if isinstance(result, Generator) else result
