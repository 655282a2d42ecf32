"""Whether this version can go on with a stored state: its layout is known, and nothing of its log is gone."""

from collections.abc import Sequence

from loopwright.errors import StorageError, UsageError
from loopwright.event_shapes import Event
from loopwright.shapes import FORMAT, OLDEST_FORMAT, Run

SETTLED = "settled"
"""In a checkpoint's metadata: it holds what a step that was left in the middle had finished; a new input follows."""


def check_format(run: Run | None, thread: str) -> None:
    """Raises UsageError for a thread whose layout is newer or older than what this version reads."""
    if run is not None and run.get("format", 0) < OLDEST_FORMAT:
        raise UsageError(
            f"Thread {thread!r} was written by an older Loopwright, in a format that this one no longer reads: go on "
            "with it there, or begin a new thread."
        )
    if run is not None and run["format"] > FORMAT:
        raise UsageError(
            f"Thread {thread!r} was written by a newer Loopwright (format {run['format']}, this one reads up to "
            f"{FORMAT}): upgrade Loopwright to go on with it."
        )


def check_whole(run: Run, events: Sequence[Event]) -> None:
    """Raises StorageError when events that the run has counted are gone: nothing and nobody removes any."""
    lost = run["seen"] - len(events)
    if lost > 0:
        raise StorageError(
            f"The thread has lost {lost} of its {run['seen']} events (single checkpoints were deleted, or written by a "
            "process whose clock was behind): fork it from an earlier checkpoint, or begin a new one."
        )
