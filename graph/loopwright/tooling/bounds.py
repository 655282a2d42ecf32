"""Waits for a tool no longer than it may take, in a thread or on the event loop; what is left behind may still end."""

import asyncio
from collections.abc import Awaitable
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")


class TimedOut(Exception):
    """The tool was still running when its time was up; a TimeoutError of the tool's own is something else.

    `work` is what was left behind, None where it was cancelled.
    """

    def __init__(self, work: "Future[Any] | None" = None) -> None:
        super().__init__("still running when its time was up")
        self.work = work


class Exited(Exception):
    """A tool on the event loop raised SystemExit, its cause: as it is, asyncio would let it end the loop."""


def wait_for(work: "Future[_T]", seconds: float) -> _T:
    """The result of work in another thread. Raises TimedOut, or what the work raised."""
    try:
        return work.result(seconds)
    except TimeoutError:
        if work.done():  # by a TimeoutError of its own, or in this very moment
            return work.result(0)
        raise TimedOut(work) from None


async def wait_within(work: Awaitable[_T], seconds: float, *, cancel: bool) -> _T:
    """The result of work on this event loop. Raises TimedOut, or what the work raised.

    `cancel` ends work whose time is up; without it the work goes on by itself. Work is cancelled with its caller.
    """
    task = asyncio.ensure_future(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        if cancel:
            task.cancel()
            raise TimedOut
        raise TimedOut(_followed(task))
    if task.cancelled():
        raise RuntimeError("the tool cancelled itself")
    return task.result()


def _followed(task: "asyncio.Future[_T]") -> "Future[_T]":
    """The later end of a task, for whoever does not run on its event loop. One that is cancelled has none."""
    future: Future[_T] = Future()

    def ended(task: "asyncio.Future[_T]") -> None:
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(task.result())

    task.add_done_callback(ended)
    return future
