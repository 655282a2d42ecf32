"""Daemon threads that are used again: where tools run, so that a hung one holds neither the loop nor the exit."""

from collections.abc import Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_T = TypeVar("_T")
_Job = tuple[Context, Callable[..., Any], tuple[Any, ...], "Future[Any]"]

_idle: list["_Worker"] = []
"""Workers without a job; a hung one never returns here. list.pop and list.append are atomic, so no lock is needed."""
MOST_IDLE = 32
"""Idle workers that are kept; further ones end."""


class _Worker(Thread):
    """A thread that does one job after the other."""

    def __init__(self) -> None:
        super().__init__(daemon=True, name="loopwright-tool")
        self.jobs: SimpleQueue[_Job] = SimpleQueue()
        self.start()

    def run(self) -> None:
        """Do jobs until there are idle workers enough."""
        while True:
            context, function, args, future = self.jobs.get()
            try:
                result = context.run(function, *args)
            except BaseException as error:
                outcome: tuple[Callable[[Any], None], Any] = (future.set_exception, error)
            else:
                outcome = (future.set_result, result)
            del context, function, args
            keep = len(_idle) < MOST_IDLE
            if keep:
                _idle.append(self)
            report, value = outcome
            report(value)
            del future, outcome, report, value
            if not keep:
                return


def in_daemon_thread(function: Callable[..., _T], *args: Any) -> "Future[_T]":
    """Run the function in a daemon thread with this thread's context variables."""
    future: Future[_T] = Future()
    future.set_running_or_notify_cancel()  # what runs in a thread cannot be cancelled, only left
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.jobs.put((copy_context(), function, args, future))
    return future
