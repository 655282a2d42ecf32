"""Calls a function eight times a second while a block lasts: often enough for timers, too seldom to cost anything."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import TypeAlias

Pulse: TypeAlias = Callable[[Callable[[], None]], AbstractContextManager[None]]
"""What calls a function while a block lasts."""
SECONDS = 1 / 8
"""Between two calls. What comes later by that much is seen at once."""


@contextmanager
def eighths(beat: Callable[[], None]) -> Iterator[None]:
    """Within the block call `beat` every eighth of a second in a thread of its own; what it raises, the block raises.

    The block itself is not disturbed: the beats end, and the error comes when the block does.
    """
    over = threading.Event()

    def beats() -> None:
        while not over.wait(SECONDS):
            beat()

    with ThreadPoolExecutor(1, "pulse") as pool:
        running = pool.submit(beats)
        try:
            yield
        finally:
            over.set()
        running.result()
