"""Kills a run before and after each single call of its checkpointer and its store, and resumes it."""

import os
import signal
from pathlib import Path
from typing import Any

from kill_storm import Tally, forked, killed_after, play, tools, victim
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.store.sqlite import SqliteStore

from loopwright import build_graph
from loopwright.storage import open_storage
from loopwright.storage.sealed_store import SealedStore
from loopwright.testing import ScriptedModel
from loopwright.transcript import input_id


class Countdown:
    """Counts moments and ends the process at the one that was chosen."""

    def __init__(self, left: int) -> None:
        self.left = left

    def tick(self) -> None:
        """One moment has come."""
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class DyingSaver(SqliteSaver):
    """A SQLite checkpointer with a moment before and after each write."""

    moments: Countdown

    def put(self, *args: Any, **kwargs: Any) -> Any:
        """Write a checkpoint."""
        self.moments.tick()
        written = super().put(*args, **kwargs)
        self.moments.tick()
        return written

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        """Write what tasks brought."""
        self.moments.tick()
        super().put_writes(*args, **kwargs)
        self.moments.tick()


class DyingStore(SqliteStore):
    """A SQLite store with a moment before and after each batch."""

    moments: Countdown

    def batch(self, ops: Any) -> Any:
        """Read and write."""
        self.moments.tick()
        results = super().batch(ops)
        self.moments.tick()
        return results


def run_until(moment: int, url: str, folder: Path) -> None:
    """The trial's run up to its pause, killed at this moment; the approval is the survivor's."""
    with open_storage(url) as storage:
        saver = storage.saver
        assert isinstance(saver, SqliteSaver)
        assert isinstance(storage.store, SealedStore)
        store = storage.store.inner
        assert isinstance(store, SqliteStore)
        dying, journal = DyingSaver(saver.conn, serde=saver.serde), DyingStore(store.conn)
        dying.is_setup = journal.is_setup = True
        dying.moments = journal.moments = Countdown(moment)
        graph = build_graph(ScriptedModel(play), tools(folder), checkpointer=dying, store=journal)
        config: Any = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "r1"}}
        graph.invoke({"messages": [HumanMessage("go", id=input_id("r1"))]}, config, durability="sync")


def placed(folder: Path, every: int) -> Tally:
    """One trial for each moment, until a run lives through all of them."""
    tally, moment = Tally(), 1
    while True:
        place = folder / f"moment-{moment}"
        place.mkdir()
        url = f"sqlite:///{place}/runs.db"
        child = forked(lambda: run_until(moment, url, place))  # noqa: B023 - runs before the next turn
        _, status = os.waitpid(child, 0)
        if status == 0:
            return tally
        if not os.WIFSIGNALED(status):
            raise SystemExit("a child ended with an error: see its traceback above")
        tally.kills += 1
        killed_after(forked(lambda: victim(url, place, "t", False)), 600)  # noqa: B023
        tally.add(place)
        moment += every
