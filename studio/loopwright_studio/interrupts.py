"""Ctrl-C and SIGTERM: the first ends a run after its current step, the second at once; both leave it resumable."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible(stop: Callable[[], None], stopping: str, farewell: str, exit_code: int) -> Iterator[None]:
    """Within the block the first signal calls `stop`, and a second one writes the farewell and exits.

    `stop` has to return at once: it runs wherever the signal came. `stopping` is said before, since the step that is
    waited for may be a model request that takes its time. The second signal leaves the process without waiting for
    anything; what was on disk stays.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    asked, (first, last) = False, (_bytes(f"\n{stopping}\n"), _bytes(farewell))

    def handle(_number: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os.write(2, last)
            os._exit(exit_code)
        asked = True
        os.write(2, first)  # a handler must not use the streams that it may have interrupted
        stop()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _bytes(text: str) -> bytes:
    return text.encode(getattr(sys.stderr, "encoding", None) or "utf-8", "backslashreplace")
