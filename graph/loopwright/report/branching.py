"""Where a thread was taken back to through LangGraph's own API: that leaves no event, but its checkpoints tell."""

from collections import Counter
from datetime import datetime
from typing import Any, NamedTuple

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from loopwright.layout import SETTLED
from loopwright.shapes import Run
from loopwright.steps import Core, Do


class Branch(NamedTuple):
    """A way that the thread is on now and that left another one: from which checkpoint, when, in which run and step."""

    run: str
    step: int
    at: float
    checkpoint: str
    edited: bool


def branches(saver: BaseCheckpointSaver[Any], thread: str, head: CheckpointTuple) -> Core[list[Branch]]:
    """The branches on the way to the newest checkpoint, oldest first; our own forks are among them.

    LangGraph marks a checkpoint that it wrote for a run from an old one, or for an edit, which is a branch where
    something else has the same parent. Only a thread that has such marks is listed as a whole.
    """
    marks: list[CheckpointTuple] = []
    for source in ("fork", "update"):
        listed = yield from _listed(saver, thread, {"source": source})
        marks += [each for each in listed if SETTLED not in each.metadata]
    if not marks:
        return []
    parents = {_id(each): _parent(each) for each in (yield from _listed(saver, thread))}
    children = Counter(parents.values())
    line, at = set[str](), _id(head)
    while at and at not in line:
        line.add(at)
        at = parents.get(at, "")
    found: list[Branch] = []
    for mark in sorted(marks, key=_id):
        came_from, edited = _parent(mark), mark.metadata.get("source") == "update"
        if _id(mark) in line and came_from and (children[came_from] > 1 or not edited):
            run: Run | None = mark.checkpoint["channel_values"].get("run")
            when = datetime.fromisoformat(mark.checkpoint["ts"]).timestamp()
            found.append(Branch(run["id"] if run else "", run["model_calls"] if run else 0, when, came_from, edited))
    return found


def _listed(
    saver: BaseCheckpointSaver[Any], thread: str, wanted: dict[str, Any] | None = None
) -> Core[list[CheckpointTuple]]:
    config: Any = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}

    async def awaited() -> list[CheckpointTuple]:
        return [each async for each in saver.alist(config, filter=wanted)]

    found: list[CheckpointTuple] = yield Do(lambda: list(saver.list(config, filter=wanted)), awaited)
    return found


def _id(found: CheckpointTuple) -> str:
    return _named(found.config)


def _parent(found: CheckpointTuple) -> str:
    return _named(found.parent_config) if found.parent_config else ""


def _named(config: RunnableConfig) -> str:
    return str(config.get("configurable", {}).get("checkpoint_id", ""))
