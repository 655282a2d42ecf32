"""Kills a run before and after each single call of its checkpointer and its store, and resumes it."""

import os
import signal
from pathlib import Path
from typing import Any

from kill_storm import Tally, forked, killed_after, play, tools, victim
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.store.base import BaseStore, Op, Result

from loopwright import build_graph
from loopwright.storage import open_storage
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


class DyingSaver(BaseCheckpointSaver[Any]):
    """A checkpointer with a moment before and after each write of the one that it hands everything to."""

    def __init__(self, inner: BaseCheckpointSaver[Any], moments: Countdown) -> None:
        super().__init__(serde=inner.serde)
        self.inner, self.moments = inner, moments
        for name in ("get_tuple", "list", "get_next_version", "get_delta_channel_history"):
            setattr(self, name, getattr(inner, name))

    def put(self, *args: Any, **kwargs: Any) -> Any:
        """Write a checkpoint."""
        self.moments.tick()
        written = self.inner.put(*args, **kwargs)
        self.moments.tick()
        return written

    def put_writes(self, *args: Any, **kwargs: Any) -> None:
        """Write what tasks brought."""
        self.moments.tick()
        self.inner.put_writes(*args, **kwargs)
        self.moments.tick()


class DyingStore(BaseStore):
    """A store with a moment before and after each batch of the one that it hands everything to."""

    def __init__(self, inner: BaseStore, moments: Countdown) -> None:
        self.inner, self.moments = inner, moments

    def batch(self, ops: Any) -> list[Result]:
        """Read and write."""
        self.moments.tick()
        results = self.inner.batch(ops)
        self.moments.tick()
        return results

    async def abatch(self, ops: Any) -> list[Result]:
        """No run here is asynchronous."""
        raise AssertionError(list[Op](ops))


def run_until(moment: int, url: str, thread: str, folder: Path) -> None:
    """The trial's run up to its pause, killed at this moment; the approval is the survivor's."""
    moments = Countdown(moment)
    with open_storage(url) as storage:
        saver, store = DyingSaver(storage.saver, moments), DyingStore(storage.store, moments)
        graph = build_graph(ScriptedModel(play), tools(folder), checkpointer=saver, store=store)
        config: Any = {"configurable": {"thread_id": thread}, "metadata": {"run_id": "r1"}}
        graph.invoke({"messages": [HumanMessage("go", id=input_id("r1"))]}, config, durability="sync")


def placed(folder: Path, url: str, every: int) -> Tally:
    """One trial for each moment, until a run lives through all of them; `{folder}` in the URL is each trial's own."""
    tally, moment = Tally(), 1
    while True:
        place = folder / f"moment-{moment}"
        place.mkdir()
        where, thread = url.replace("{folder}", str(place)), f"{folder.name}-{moment}"
        child = forked(lambda: run_until(moment, where, thread, place))  # noqa: B023 - runs before the next turn
        _, status = os.waitpid(child, 0)
        if status == 0:
            return tally
        if not os.WIFSIGNALED(status):
            raise SystemExit("a child ended with an error: see its traceback above")
        tally.kills += 1
        killed_after(forked(lambda: victim(where, place, thread, False)), 600)  # noqa: B023
        tally.add(place)
        moment += every
