"""A context manager that waits for the disk, for use in an event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractContextManager, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def threaded(manager: AbstractContextManager[T]) -> AsyncIterator[T]:
    """The context of this manager, entered and left in another thread; left also when the task is cancelled meanwhile.

    The manager is not told of an error in the context: it passes by.
    """
    entering = asyncio.ensure_future(asyncio.to_thread(manager.__enter__))
    try:
        yield await asyncio.shield(entering)
    finally:
        await asyncio.shield(asyncio.ensure_future(_leave(entering, manager)))


async def _leave(entering: "asyncio.Future[T]", manager: AbstractContextManager[T]) -> None:
    """Leave what was entered, once it was."""
    await asyncio.wait([entering])
    if not entering.cancelled() and entering.exception() is None:
        await asyncio.to_thread(manager.__exit__, None, None, None)
