"""Looks whether a thread can go on: no clock behind its newest checkpoint, nothing of its history lost."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from itertools import takewhile
from typing import Any
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import StateSnapshot

from loopwright.errors import StorageError, UsageError
from loopwright.layout import check_whole
from loopwright.state import run_of
from loopwright.steps import Core, Do

PATIENCE = 5.0
"""Seconds that are waited for a clock that is behind."""
_GREGORIAN = 0x01B21DD213814000
"""Hundreds of nanoseconds from 15 October 1582, where the time of a UUID begins, to 1970."""


def check_clock(snapshot: StateSnapshot) -> Core[None]:
    """Wait for a clock that is a little behind the newest checkpoint. Raises UsageError for one that is far behind.

    Checkpoints are ordered by the time in their ids: what a process writes with an earlier clock is not seen again.
    """
    if snapshot.metadata is None:
        return None
    behind = written_at(str(_place(snapshot)["checkpoint_id"])) - time.time()
    if behind > PATIENCE:
        raise UsageError(
            f"The clock of this machine is {behind:.0f} seconds behind the thread's newest checkpoint, so that what it "
            "does would be lost: set the clock right."
        )
    if behind > 0:
        yield Do(time.sleep, asyncio.sleep, (behind,))
    return None


def check_thread(saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot) -> Core[None]:
    """Check the clock, and that nothing was lost. Raises UsageError for the one and StorageError for the other.

    The transcript may have become shorter by an edit alone (update_state, as Studio and forks write it).
    """
    yield from check_clock(snapshot)
    run = run_of(snapshot.values)
    if run is None:
        return None
    check_whole(run, snapshot.values.get("events", []))
    missing = run["length"] - len(snapshot.values.get("messages", []))
    if missing > 0 and not (yield from _edited(saver, snapshot)):
        raise StorageError(
            f"The thread has lost {missing} of its {run['length']} messages (single checkpoints were deleted, or "
            "written by a process whose clock was behind): fork it from an earlier checkpoint, or begin a new one."
        )
    return None


def written_at(checkpoint: str) -> float:
    """Unix time in a checkpoint's id, a UUID of version 6; 0 for an id of another kind."""
    try:
        number = UUID(checkpoint)
    except ValueError:
        return 0.0
    if number.version != 6:
        return 0.0
    bits = number.int
    ticks = (bits >> 96 << 28) | ((bits >> 80 & 0xFFFF) << 12) | (bits >> 64 & 0xFFF)
    return (ticks - _GREGORIAN) / 1e7


def _place(snapshot: StateSnapshot) -> dict[str, Any]:
    """Thread and checkpoint of a snapshot."""
    return snapshot.config.get("configurable", {})


def _edited(saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot) -> Core[bool]:
    """Whether someone edited the state since the machine last wrote the run: such an edit may remove messages."""
    config: RunnableConfig = {"configurable": {"thread_id": _place(snapshot)["thread_id"]}}

    async def listed() -> list[CheckpointTuple]:
        found: AsyncIterator[CheckpointTuple] = saver.alist(config)
        return [each async for each in found]

    tuples: list[CheckpointTuple] = yield Do(lambda: list(saver.list(config)), listed)
    return any(each.metadata.get("source") == "update" for each in _since_run(tuples))


def _since_run(tuples: list[CheckpointTuple]) -> Iterator[CheckpointTuple]:
    """The newest checkpoints, down to the first that holds the present run."""
    version = tuples[0].checkpoint["channel_versions"].get("run")
    return takewhile(lambda each: each.checkpoint["channel_versions"].get("run") == version, tuples)
