"""How a thread came to where it is: one entry a checkpoint, from a single listing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeAlias

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from loopwright.errors import UnknownThread
from loopwright.language import Language, language_of
from loopwright.layout import SETTLED
from loopwright.state import Event, run_of
from loopwright.steps import Core, Do
from loopwright.threads.reading import checkpoint_of, config_of
from loopwright.threads.telling import tell_events, tell_source

Source: TypeAlias = Literal["input", "loop", "update", "fork"]


@dataclass(frozen=True)
class HistoryEntry:
    """One checkpoint: when and by which node it was written, what happened then, and what comes next from there.

    `parent` is the checkpoint it was made from; where two have the same one, the thread was forked. `current` is true
    on the branch that the thread is on now. `step` counts the run's model calls so far. `source` is LangGraph's:
    `loop` for a node of the machine, `input` for what a caller sent, `update` for an edit or a fork, and for what a
    left step had finished before a new task came.
    """

    checkpoint: str
    parent: str | None
    at: datetime
    run: str
    step: int
    source: Source
    node: str
    next: tuple[str, ...]
    paused: bool
    current: bool
    text: str


def history(saver: BaseCheckpointSaver[Any], thread: str) -> Core[list[HistoryEntry]]:
    """The thread's checkpoints, the newest last. Raises UnknownThread.

    No state is rebuilt for it: what happened in a step stands among the writes of the checkpoint before it.
    """

    async def listed() -> list[CheckpointTuple]:
        return [each async for each in saver.alist(config_of(thread))]

    found: list[CheckpointTuple] = yield Do(lambda: list(saver.list(config_of(thread))), listed)
    tuples = [each for each in found if not _namespace(each)]
    if not tuples:
        raise UnknownThread(f"There is no thread {thread!r} in this storage.")
    by_id = {_id(each): each for each in tuples}
    branch = _branch(tuples[0], by_id)
    language = language_of(_input(tuples))
    entries = [_entry(each, by_id.get(_parent(each) or ""), _id(each) in branch, language) for each in tuples]
    return entries[::-1]


def _entry(found: CheckpointTuple, parent: CheckpointTuple | None, current: bool, language: Language) -> HistoryEntry:
    source: Source = found.metadata.get("source", "loop")
    stepped = parent is not None and (source == "loop" or SETTLED in found.metadata)
    writes = (parent.pending_writes or []) if parent is not None and stepped else []
    events: list[Event] = [event for _, channel, value in writes if channel == "events" for event in value]
    messages: list[AnyMessage] = [m for _, channel, value in writes if channel == "messages" for m in _listed(value)]
    run = run_of(found.checkpoint["channel_values"])
    text = tell_events(events, messages, language) if events else tell_source(source, messages, language)
    return HistoryEntry(
        checkpoint=_id(found),
        parent=_parent(found),
        at=datetime.fromisoformat(found.checkpoint["ts"]),
        run=run["id"] if run else str(found.metadata.get("run_id", "")),
        step=events[-1]["step"] if events else run["model_calls"] if run else 0,
        source=source,
        node="+".join(_next(parent)) if parent is not None and stepped else "",
        next=_next(found),
        paused=any(channel == "__interrupt__" for _, channel, _ in found.pending_writes or []),
        current=current,
        text=text,
    )


def _next(found: CheckpointTuple) -> tuple[str, ...]:
    """The nodes that a checkpoint leads to: those its branches name, and those that were sent a task."""
    values = found.checkpoint["channel_values"]
    branches = [name.removeprefix("branch:to:") for name in values if name.startswith("branch:to:")]
    tasks = [task.node for task in values.get("__pregel_tasks") or []]
    return tuple(["__start__"] * ("__start__" in values) + sorted(branches) + tasks)


def _branch(head: CheckpointTuple, by_id: dict[str, CheckpointTuple]) -> set[str]:
    """The checkpoints from the head back to the first."""
    branch: set[str] = set()
    at: CheckpointTuple | None = head
    while at is not None:
        branch.add(_id(at))
        at = by_id.get(_parent(at) or "")
    return branch


def _input(tuples: Iterable[CheckpointTuple]) -> list[HumanMessage]:
    """The users' messages, the newest last, as far as the checkpoints of inputs hold them."""
    values = [found.checkpoint["channel_values"].get("__start__") for found in tuples]
    messages = [m for value in values if isinstance(value, dict) for m in _listed(value.get("messages"))]
    return [message for message in messages if isinstance(message, HumanMessage)][::-1]


def _listed(value: Any) -> list[AnyMessage]:
    return value if isinstance(value, list) else []


def _id(found: CheckpointTuple) -> str:
    return checkpoint_of(found.config) or ""


def _parent(found: CheckpointTuple) -> str | None:
    return checkpoint_of(found.parent_config)


def _namespace(found: CheckpointTuple) -> str:
    return str(found.config["configurable"].get("checkpoint_ns", "")) if "configurable" in found.config else ""
